// What telemetry costs a turn, beside the bare OpenTelemetry SDK making the same spans in the same places. A process each, in turns.
import { execFileSync } from 'node:child_process'
import { printTable, target } from './measure.mjs'

const ROUNDS = 5
const SUBJECTS = ['off', 'idle', 'on', 'layers', 'hand']
const SHAPES = [
  ['memory', 1, 100],
  ['memory', 10, 10],
  ['sqlite', 1, 100],
  ['sqlite', 10, 10],
]

const once = (subject, shape) =>
  Number(execFileSync(process.execPath, ['telemetry/subject.mjs', subject, ...shape.map(String)]))

const rows = [['store', 'shape', 'off µs a turn', 'idle', 'on', 'by hand', 'on / by hand']]
let worst = 0
let idle = 0
for (const shape of SHAPES) {
  const samples = Object.fromEntries(SUBJECTS.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++)
    for (const name of SUBJECTS) samples[name].push(once(name, shape))
  const least = Object.fromEntries(SUBJECTS.map((name) => [name, Math.min(...samples[name])]))
  const on = least.on - least.off
  const hand = least.hand - least.layers
  worst = Math.max(worst, on / hand)
  idle = Math.max(idle, least.idle / least.off)
  const added = (cost) => `+${cost.toFixed(0)}`
  rows.push([
    shape[0],
    `${shape[1]}×${shape[2]}`,
    least.off.toFixed(0),
    added(least.idle - least.off),
    added(on),
    added(hand),
    (on / hand).toFixed(2),
  ])
}
printTable(rows)
target('telemetry costs at most twice the same spans made by hand', worst <= 2, worst.toFixed(2))
target(
  'telemetry without an SDK costs nothing beyond the noise of 3 %',
  idle <= 1.03,
  idle.toFixed(3),
)
