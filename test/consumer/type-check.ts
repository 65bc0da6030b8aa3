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

/** What tsc says, in `folder`, about a program that imports every public name, libraries included. */
export async function typeCheck(
  folder: string,
  resolution: Resolution,
  program = programOfAllNames(),
): Promise<string> {
  const name = `consumer-${resolution.toLowerCase()}`
  writeFileSync(join(folder, `${name}.ts`), program)
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({
      compilerOptions: {
        ...surroundings[resolution],
        target: 'ES2022',
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
      },
      files: [`${name}.ts`],
    }),
  )
  const { output } = await runNode(commandFile('typescript', 'tsc'), ['-p', `${name}.json`], {
    cwd: folder,
  })
  return output.replaceAll(NOT_OURS, '')
}

function programOfAllNames(): string {
  const lines = Object.entries(publicExports).map(([subpath, { values, types }], index) => {
    const names = [...values, ...types.map((name) => `type ${name}`)]
    // Renamed, because two subpaths may offer the same name.
    const list = names.map((name) => `${name} as ${name.replace('type ', '')}${index}`)
    return `export { ${list.join(', ')} } from '${subpath}'`
  })
  return lines.join('\n')
}
