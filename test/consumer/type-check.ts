import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandFile, inRoot } from '../../scripts/project.mjs'
import { runNode } from '../../scripts/run-command.mjs'
import { publicExports } from './public-exports.ts'

/** A server has Node's types and no DOM; a web page has the DOM and no Node. */
const surroundings = {
  NodeNext: {
    module: 'NodeNext',
    lib: ['ES2022'],
    types: ['node'],
    typeRoots: [inRoot('node_modules', '@types')],
  },
  Bundler: {
    module: 'ESNext',
    moduleResolution: 'Bundler',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    types: [],
  },
}

export type Resolution = keyof typeof surroundings

// Its types name things of the DOM, so a server that imports the client sees these errors without us.
const NOT_OURS =
  /^\S*node_modules\/@google\/genai\/\S+: error TS(2304|2552): Cannot find name .*\n/gm

/** What tsc says, in `folder`, about each program, libraries included; one run for all of them. */
export async function typeCheck<Name extends string>(
  folder: string,
  resolution: Resolution,
  programs: Readonly<Record<Name, string>>,
): Promise<Record<Name, string>> {
  const project = `consumer-${resolution.toLowerCase()}`
  const files = Object.entries<string>(programs).map(([name, program]) => {
    const file = `${project}-${name}.ts`
    writeFileSync(join(folder, file), program)
    return { name, file }
  })
  writeFileSync(
    join(folder, `${project}.json`),
    JSON.stringify({
      compilerOptions: {
        ...surroundings[resolution],
        target: 'ES2022',
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
      },
      files: files.map(({ file }) => file),
    }),
  )
  const args = ['-p', `${project}.json`]
  const { output } = await runNode(commandFile('typescript', 'tsc'), args, { cwd: folder })
  const lines = output.replaceAll(NOT_OURS, '').split(/^(?=\S)/m)
  const isOf = (file: string) => (line: string) => line.startsWith(file)
  // An error in a library is an error of every program that uses it.
  const shared = lines.filter((line) => !files.some(({ file }) => isOf(file)(line))).join('')
  return Object.fromEntries(
    files.map(({ name, file }) => [name, shared + lines.filter(isOf(file)).join('')]),
  ) as Record<Name, string>
}

/** A program that imports every public name. */
export function programOfAllNames(): string {
  const lines = Object.entries(publicExports).map(([subpath, { values, types }], index) => {
    const names = [...values, ...types.map((name) => `type ${name}`)]
    // Renamed, because two subpaths may offer the same name.
    const list = names.map((name) => `${name} as ${name.replace('type ', '')}${index}`)
    return `export { ${list.join(', ')} } from '${subpath}'`
  })
  return lines.join('\n')
}
