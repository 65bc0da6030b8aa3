// The record of a call: what names it, what can be proved of it, and what it refuses.
import assert from 'node:assert/strict'
import { canonicalStringify, checksum, memorySpool, SpooledArtifact, ToolCall } from 'bobbin-adk'

/** @type {import('bobbin-adk').RawToolCall} */
const raw = {
  id: 'call_1',
  tool: 'read_log',
  args: '{"service":"checkout","lines":3}',
  results: new SpooledArtifact(await memorySpool().write('all well')),
  isComplete: true,
  isError: false,
  createdAt: '2026-01-02T03:04:05.000Z',
  completedAt: '2026-01-02T03:04:06.000Z',
}

// #region names
const call = new ToolCall(raw)
// id: which call; unique in its conversation, the provider's own where it gave one
assert.equal(call.id, 'call_1')
// checksum: names the request; the order of the arguments does not matter
assert.equal(call.checksum, checksum('read_log', { lines: 3, service: 'checkout' }))
// digest: the whole record; results too, by their own SHA-256
assert.notEqual(call.digest, new ToolCall({ ...raw, results: 'something else' }).digest)
// #endregion names

// #region tamper
assert.throws(() => new ToolCall({ ...raw, checksum: checksum('read_log', {}) }), {
  code: 'E_INVALID_INITIAL_TOOL_CALL_VALUE', // a checksum that is given is verified
})
assert.throws(() => Object.assign(call.args, { service: 'cart' }), TypeError) // frozen, all of it
// #endregion tamper

// #region strict
const refused = ['{"id":9007199254740993}', '{"a":1,"a":2}', '{"a":1', '[1]']
for (const args of refused) {
  assert.throws(() => new ToolCall({ ...raw, args }), /args/)
}
// Keys that are prototypes elsewhere are data here.
const odd = new ToolCall({ ...raw, args: '{"__proto__":{"admin":true}}' })
assert.equal(Reflect.get(odd.args, 'admin'), undefined)
assert.deepEqual(Object.keys(odd.args), ['__proto__'])
// #endregion strict

// #region canonical
assert.equal(
  canonicalStringify({ b: [1, undefined], a: undefined, c: 1e21 }),
  '{"b":[1,null],"c":1e+21}',
)
assert.throws(() => canonicalStringify({ n: 1n }), TypeError)
// #endregion canonical

console.log(
  `${call.tool}: checksum ${call.checksum.slice(0, 12)}…, digest ${call.digest.slice(0, 12)}…`,
)
