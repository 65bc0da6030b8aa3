// What an artifact answers in a program; a model asks the same through artifact_* tools.
import assert from 'node:assert/strict'
import {
  memorySpool,
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  SpooledTableArtifact,
} from 'bobbin-adk'

const spool = memorySpool()
const text = Array.from({ length: 300 }, (_, n) => `${n} ${n % 100 ? 'ok' : 'error 503'}`).join(
  '\n',
)

// #region text
const log = new SpooledArtifact(await spool.write(text))
await log.head(10) // string[], without line ends
await log.tail(10)
await log.cat(100, 200) // lines 100 to 199, counted from 0
await log.line(7)
// Lines with their numbers, how many matched, what stopped the search, and a cursor to continue.
const found = await log.grep('error \\d+', { context: 2, ignoreCase: true })
await log.asString(1_000_000) // refused above so many bytes
for await (const line of log.lines()) assert.ok(line) // every line, in flat memory
// #endregion text

assert.deepEqual(await log.head(1), ['0 error 503'])
assert.equal((await log.cat(100, 200)).length, 100)
assert.equal(await log.line(7), '7 ok')
assert.ok(found.lines.some(({ line }) => line === 102))
await assert.rejects(log.asString(10), { code: 'E_LIMIT_EXCEEDED' })

// #region kinds
const deploys = new SpooledJsonArtifact(
  await spool.write('[{"service":"checkout","ok":true},{"service":"cart","ok":false}]'),
)
assert.equal(await deploys.length(), 2)
assert.equal(await deploys.get('[1].service'), 'cart')
assert.deepEqual(await deploys.pluck('service'), ['checkout', 'cart'])

const runbook = new SpooledMarkdownArtifact(
  await spool.write('# Runbook\n\n## Restart\n\nDrain first.\n'),
)
const headings = await runbook.headings()
assert.deepEqual(
  headings.map((heading) => heading.text),
  ['Runbook', 'Restart'],
)

const hosts = new SpooledTableArtifact(await spool.write('host,zone\na1,north\na2,south\nb1,north'))
assert.deepEqual(await hosts.columns(), ['host', 'zone'])
assert.deepEqual(await hosts.rows(1, 2), [['a2', 'south']])
const { groups } = await hosts.countBy('zone')
assert.deepEqual(groups[0], { value: 'north', count: 2 })
// #endregion kinds

console.log('Text, JSON, Markdown and tables answer without being read into memory.')
