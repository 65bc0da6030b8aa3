import { runCommand } from '../../scripts/run-command.mjs'

const program = `
  const names = {}
  for (const subpath of process.argv.slice(1)) names[subpath] = Object.keys(await import(subpath)).sort()
  console.log(JSON.stringify(names))
`

/** The names that each subpath exports, as a Node of your choice sees them from `folder`. */
export async function importNames(
  folder: string,
  subpaths: readonly string[],
  node = process.execPath,
): Promise<Record<string, string[]>> {
  const args = ['--input-type=module', '--eval', program, ...subpaths]
  const { code, output, stdout } = await runCommand(node, args, { cwd: folder })
  if (code !== 0) throw new Error(`importing ${subpaths.join(', ')} failed:\n${output}`)
  return JSON.parse(stdout)
}
