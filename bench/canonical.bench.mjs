// Canonicalise and hash arguments. The limit is native `JSON.stringify` with one-shot SHA-256.
import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import fastJsonStableStringify from 'fast-json-stable-stringify'
import { canonicalize as jsonCanonicalize } from 'json-canonicalize'
import jsonStableStringify from 'json-stable-stringify'
import objectHash from 'object-hash'
import { hash as ohash } from 'ohash'
import safeStableStringify from 'safe-stable-stringify'
import { canonicalStringify } from '../dist/index.js'
import { compare, printTable, target } from './measure.mjs'

const sha256 = (text) => hash('sha256', text, 'hex')

const contenders = {
  limit: (value) => sha256(JSON.stringify(value)),
  bobbin: (value) => sha256(canonicalStringify(value)),
  'safe-stable-stringify': (value) => sha256(safeStableStringify(value)),
  canonicalize: (value) => sha256(canonicalize(value)),
  'fast-json-stable-stringify': (value) => sha256(fastJsonStableStringify(value)),
  'json-canonicalize': (value) => sha256(jsonCanonicalize(value)),
  'json-stable-stringify': (value) => sha256(jsonStableStringify(value)),
  ohash: (value) => ohash(value),
  'object-hash': (value) => objectHash(value, { algorithm: 'sha256' }),
}

const small = () => ({
  path: '/var/log/app/checkout.log',
  pattern: 'timeout|refused',
  limit: 50,
  caseSensitive: false,
  context: 3,
})

const row = (i) => ({
  timestamp: `2026-11-15T12:${i % 60}:00Z`,
  service: 'checkout',
  level: i % 3 === 0 ? 'error' : 'info',
  id: i,
  message: `request ${i} failed after ${(i * 7919) % 1000} ms`,
  tags: ['a', 'b', i],
  meta: { region: 'eu-west-1', attempt: i % 5, host: `node-${i % 17}`, ok: i % 2 === 0 },
})

const rows = (count) => ({
  service: 'checkout',
  filter: { since: '2026-11-15', level: 'error' },
  rows: Array.from({ length: count }, (_, i) => row(i)),
})

const prose = (count) => ({
  title: 'Прогноз погоды',
  parts: Array.from({ length: count }, (_, i) => ({
    text: `第${i}章 — “Über die Wärme”, ещё раз: ${'наблюдение '.repeat(6)}🌦`,
    lang: 'mul',
    at: i,
  })),
})

const wide = (count) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      const n = (i * 7919) % count
      return [`key_${n}`, n % 2 === 0 ? n : `value ${n}`]
    }),
  )

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}

/** Arguments come out of `JSON.parse`, so that is how the engine has laid them out. */
const parsed = (value) => JSON.parse(JSON.stringify(value))

const inputs = [
  ['100 B', small(), true],
  ['2 KB', rows(9), true],
  ['1 MB', rows(4800), true],
  ['260 KB non-ASCII', prose(2300), false],
  ['100k keys', wide(100_000), false],
]

const heading = ['input', 'keys', 'limit µs', ...Object.keys(contenders).slice(1)]
const table = [heading]
const findings = []

for (const [name, value, hasTarget] of inputs) {
  for (const [order, bound, input] of [
    ['sorted', 1.6, parsed(sorted(value))],
    ['unsorted', 2.2, parsed(value)],
  ]) {
    const subjects = Object.fromEntries(
      Object.entries(contenders).map(([key, run]) => [key, () => run(input)]),
    )
    const results = compare(subjects, 'limit')
    const { limit, bobbin, ...peers } = results
    table.push([
      name,
      order,
      limit.microseconds.toFixed(1),
      ...[bobbin, ...Object.values(peers)].map(({ ratio }) => ratio.toFixed(2)),
    ])
    const [best, { ratio }] = Object.entries(peers).sort((a, b) => a[1].ratio - b[1].ratio)[0]
    findings.push({ name, order, bound: hasTarget ? bound : undefined, bobbin, best, ratio })
  }
}

console.log('\nCanonicalise and hash: CPU time as a multiple of JSON.stringify + SHA-256\n')
printTable(table)
console.log()
for (const { name, order, bound, bobbin, best, ratio } of findings) {
  const what = `${/** @type {string} */ (name)}, ${order}`
  const own = bobbin.ratio.toFixed(2)
  if (bound !== undefined) target(`${what}: at most ${bound}`, bobbin.ratio <= bound, own)
  target(
    `${what}: ahead of every peer`,
    bobbin.ratio < ratio,
    `${own} < ${ratio.toFixed(2)} (${best})`,
  )
}
