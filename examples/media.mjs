// Pictures: one that a person attaches, one that a tool returns. Their bytes never become text.
import assert from 'node:assert/strict'
import { bytesMedia, Media, Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

// #region tool
/** @param {string} filename */
const picture = (filename) =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename,
    trustTier: 'third-party', // who vouches for the bytes
    modalityHazard: 'opaque-perceptual', // what looking at them can do
    reader: bytesMedia(PIXEL), // or blobMedia, streamMedia, await fileMedia(path) of bobbin-adk/fs
  })

const chart = new Tool({
  name: 'draw_chart',
  description: 'Draws a metric as a chart.',
  inputSchema: z.object({ metric: z.string() }),
  effect: 'read',
  handler: ({ metric }) => picture(`${metric}.png`),
})
// #endregion tool

const runner = new TurnRunner({
  tools: [chart],
  executor: async ({ iteration, items }) => {
    if (iteration === 1) {
      // The attachment stands in the message, announced in an envelope before it.
      assert.match(JSON.stringify(items[0]), /kind=.{0,3}image.*screenshot\.png/)
      return { calls: [{ tool: 'draw_chart', args: { metric: 'latency' } }] }
    }
    assert.match(JSON.stringify(items.at(-1)), /latency\.png/)
    return { answer: 'Both look alike.' }
  },
})

// #region attach
const outcome = await runner.run({
  message: 'Does this screenshot match the latency chart?',
  attachments: [picture('screenshot.png')],
})
const result = outcome.toolCalls[0]?.results
assert.ok(Media.isMedia(result))
// #endregion attach

assert.equal(outcome.text, 'Both look alike.')
assert.equal(result.byteLength, PIXEL.length)
const chunks = []
for await (const chunk of result.stream()) chunks.push(chunk)
assert.deepEqual(Buffer.concat(chunks), PIXEL)
// A record refers to media by their SHA-256; the bytes lie on the spool.
assert.match(JSON.stringify(outcome.toolCalls[0]), new RegExp(`"sha256":"${result.digest}"`))
console.log(
  `${result.filename}: ${result.byteLength} bytes, sha256 ${result.digest?.slice(0, 12)}…`,
)
