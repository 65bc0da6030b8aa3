// Installs what the benchmarks need, builds the package and runs every `*.bench.mjs`, or those named.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))

function run(command, args, cwd) {
  // npm is a script file on Windows, which only a shell can start.
  const shell = process.platform === 'win32' && command === 'npm'
  const { status, error } = spawnSync(command, args, { cwd, shell, stdio: 'inherit' })
  if (error) throw error
  return status ?? 1
}

function must(command, args, cwd) {
  const status = run(command, args, cwd)
  if (status !== 0) process.exit(status)
}

if (!existsSync(`${root}node_modules`)) must('npm', ['install', '--no-save'], root)
if (!existsSync(`${here}node_modules`)) must('npm', ['install', '--no-save'], here)
must('npm', ['run', 'build'], root)

const wanted = process.argv.slice(2)
const benchmarks = readdirSync(here)
  .filter((file) => file.endsWith('.bench.mjs'))
  .filter((file) => wanted.length === 0 || wanted.includes(file.replace('.bench.mjs', '')))
  .sort()

if (benchmarks.length === 0) {
  console.error(`No benchmark is named ${wanted.map((name) => `\`${name}\``).join(', ')}.`)
  process.exit(1)
}

let failed = 0
// A process each: what one benchmark teaches the compiler does not slow the next.
for (const file of benchmarks) if (run(process.execPath, [file], here) !== 0) failed++
process.exit(failed === 0 ? 0 : 1)
