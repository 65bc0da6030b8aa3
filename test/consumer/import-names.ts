import { runCommand } from '../../scripts/run-command.mjs'

const program = `
  const names = {}
  for (const subpath of process.argv.slice(1)) {
    names[subpath] = Object.entries(await import(subpath)).map(nameOf).sort()
  }
  function nameOf([name, value]) {
    const called = typeof value === 'function' ? value.name : name
    return called === name ? name : name + ', which calls itself ' + called
  }
  console.log(JSON.stringify(names))
`

/**
 * The names that each subpath exports, as a Node of your choice sees them from `folder`; a class or
 * function that has another name itself (it stands in logs and traces) is listed with it.
 */
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
