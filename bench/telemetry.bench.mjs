// What telemetry costs a turn, beside the bare OpenTelemetry SDK making the same spans in the same places. A process each, in turns.
import { execFileSync } from 'node:child_process'
import { printTable, target } from './measure.mjs'

const ROUNDS = 5
const SUBJECTS = ['off', 'idle', 'on', 'layers', 'spans', 'hand']
// Telemetry does the same on every store, and the noise of a disk is larger than its cost.
const SHAPES = [
  ['memory', 1, 100],
  ['memory', 10, 10],
]

const once = (subject, shape) =>
  Number(execFileSync(process.execPath, ['telemetry/subject.mjs', subject, ...shape.map(String)]))

/** The least CPU time of each subject: whatever else runs only adds to it. */
function leastOf(subjects, shape) {
  const samples = Object.fromEntries(subjects.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++)
    for (const name of subjects) samples[name].push(once(name, shape))
  return Object.fromEntries(subjects.map((name) => [name, Math.min(...samples[name])]))
}

/** A ratio of two costs. If noise makes the second one zero or less, the ratio has no value. */
function ratio(cost, base) {
  if (!(base > 0)) throw new Error(`The base costs ${base} µs: measure again on a quieter machine.`)
  return cost / base
}

const rows = [
  [
    'store',
    'shape',
    'off µs a turn',
    'idle',
    'on',
    'spans by hand',
    'and metrics',
    'on / spans',
    'on / both',
  ],
]
const worst = { spans: 0, hand: 0 }
let idle = 0
for (const shape of SHAPES) {
  const least = leastOf(SUBJECTS, shape)
  const on = least.on - least.off
  const [spans, hand] = [least.spans - least.layers, least.hand - least.layers]
  const ratios = { spans: ratio(on, spans), hand: ratio(on, hand) }
  for (const name of ['spans', 'hand']) worst[name] = Math.max(worst[name], ratios[name])
  idle = Math.max(idle, ratio(least.idle, least.off))
  const added = (cost) => `+${cost.toFixed(0)}`
  rows.push([
    shape[0],
    `${shape[1]}×${shape[2]}`,
    least.off.toFixed(0),
    added(least.idle - least.off),
    added(on),
    added(spans),
    added(hand),
    ratios.spans.toFixed(2),
    ratios.hand.toFixed(2),
  ])
}
const served = leastOf(['served-off', 'served-idle'], ['memory', 1, 100])
const servedIdle = ratio(served['served-idle'], served['served-off'])
printTable(rows)
target(
  'telemetry with its metrics costs at most twice the same spans made by hand',
  worst.spans <= 2,
  worst.spans.toFixed(2),
)
target(
  'telemetry costs at most twice the same spans and metrics made by hand',
  worst.hand <= 2,
  worst.hand.toFixed(2),
)
target(
  'telemetry without an SDK costs nothing beyond the noise of 3 %',
  idle <= 1.03,
  idle.toFixed(3),
)
target(
  'so it is for calls that `mcpServer` serves',
  servedIdle <= 1.03,
  `${servedIdle.toFixed(3)}, ${served['served-off'].toFixed(0)} µs for 100 calls`,
)
