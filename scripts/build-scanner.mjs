// Assembles src/spool/scan/scanner.wat and writes its bytes into scanner-module.ts.
import { readFile, writeFile } from 'node:fs/promises'
import loadWabt from 'wabt'

const folder = new URL('../src/spool/scan/', import.meta.url)
const wabt = await loadWabt()
const text = await readFile(new URL('scanner.wat', folder), 'utf8')
const { buffer } = wabt.parseWat('scanner.wat', text, { simd: true }).toBinary({})
const base64 = Buffer.from(buffer).toString('base64')
const lines = (base64.match(/.{1,92}/g) ?? []).map((part) => `  '${part}'`)
await writeFile(
  new URL('scanner-module.ts', folder),
  `/** The bytes of \`scanner.wat\`, assembled by \`scripts/build-scanner.mjs\`; a test holds the two together. */
export const SCANNER_MODULE =
${lines.join(' +\n')}
`,
)
