// Cold import: a fresh process each time, interleaved, the CPU time of `import()` alone.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { median, printTable, target } from './measure.mjs'

const ROUNDS = 11
const subjects = {
  bobbin: fileURLToPath(new URL('../dist/index.js', import.meta.url)),
  '@tanstack/ai': '@tanstack/ai',
}

const program = `
  const before = process.cpuUsage()
  await import(process.argv[1])
  const { user, system } = process.cpuUsage(before)
  console.log((user + system) / 1000)
`

function once(name) {
  const args = ['--input-type=module', '--eval', program, subjects[name]]
  return Number(execFileSync(process.execPath, args, { cwd: import.meta.dirname }).toString())
}

const names = Object.keys(subjects)
const samples = Object.fromEntries(names.map((name) => [name, []]))
for (const name of names) once(name)
for (let round = 0; round < ROUNDS; round++)
  for (const name of names) samples[name].push(once(name))

printTable([
  ['import', 'CPU ms (median)', 'CPU ms (least)'],
  ...names.map((name) => [
    name,
    median(samples[name]).toFixed(1),
    Math.min(...samples[name]).toFixed(1),
  ]),
])
const ratio = median(samples.bobbin) / median(samples['@tanstack/ai'])
target('importing bobbin takes at most half of @tanstack/ai', ratio <= 0.5, ratio.toFixed(2))
