// Shared by all benchmarks: interleaved rounds in one process, CPU time, ratios to a named limit.

const ROUNDS = 15
/** CPU microseconds that one subject should take in one round. */
const SLICE = 20_000
/** CPU microseconds before the first round: compilers need tens of thousands of runs of what is small. */
const WARM_UP = 300_000

function cpuMicroseconds(act, times) {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1]
}

export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)]
}

/** How often `act` fits into a slice, once it is warm. */
function calibrate(act) {
  let times = 1
  let total = 0
  for (;;) {
    const spent = cpuMicroseconds(act, times)
    total += spent
    if (total >= WARM_UP && spent >= SLICE / 4) {
      return Math.max(1, Math.round((times * SLICE) / spent))
    }
    if (spent < SLICE) times *= 2
  }
}

/**
 * Runs the subjects (name → function) in turns and gives, for each, the median time in microseconds and
 * the median of its ratios to `limit`, both taken in the same round so that noise hits both alike.
 */
export function compare(subjects, limit) {
  const names = Object.keys(subjects)
  const times = Object.fromEntries(names.map((name) => [name, calibrate(subjects[name])]))
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    // Starting elsewhere in each round spreads the garbage of one subject over all others.
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length]
      samples[name].push(cpuMicroseconds(subjects[name], times[name]) / times[name])
    }
  }
  return Object.fromEntries(
    names.map((name) => {
      const ratios = samples[name].map((sample, round) => sample / samples[limit][round])
      return [name, { microseconds: median(samples[name]), ratio: median(ratios) }]
    }),
  )
}

/** Prints rows of cells as an aligned Markdown table; the first row is the heading. */
export function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const line = (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`
  console.log(line(rows[0]))
  console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
  for (const row of rows.slice(1)) console.log(line(row))
}

/** Prints whether a target is met and makes the process fail at its end when it is not. */
export function target(what, met, detail) {
  console.log(`${met ? 'pass' : 'FAIL'}  ${what}: ${detail}`)
  if (!met) process.exitCode = 1
}
