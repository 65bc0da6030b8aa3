// An executor without a model: rules decide, the runner acts. Every call is admitted, run, settled
// and told like a model's.
import assert from 'node:assert/strict'
import { SpooledArtifact, Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

const readings = { cellar: 61, attic: 24 }

const measure = new Tool({
  name: 'measure',
  description: 'Measures the temperature of a room.',
  inputSchema: z.object({ room: z.enum(['cellar', 'attic']) }),
  effect: 'read',
  handler: ({ room }) => ({ room, celsius: readings[room] }),
})
const cool = new Tool({
  name: 'cool',
  description: 'Switches the cooling of a room on.',
  inputSchema: z.object({ room: z.string() }),
  effect: 'idempotent',
  handler: ({ room }) => `cooling the ${room}`,
})

/**
 * Looks at what has settled so far and says what happens next.
 *
 * @type {import('bobbin-adk').Executor}
 */
const rules = async ({ iteration, turnToolCalls }, helpers) => {
  if (iteration === 1) {
    return { calls: Object.keys(readings).map((room) => ({ tool: 'measure', args: { room } })) }
  }
  const measured = turnToolCalls.filter(({ tool }) => tool === 'measure')
  const values = await Promise.all(
    measured.map(async ({ results }) =>
      SpooledArtifact.isSpooledArtifact(results) ? JSON.parse(await results.asString()) : {},
    ),
  )
  const hot = values.filter(({ celsius }) => celsius > 50)
  if (iteration === 2 && hot.length > 0) {
    helpers.message({ id: 'status', delta: `${hot.length} room is too hot.\n` })
    return { calls: hot.map(({ room }) => ({ tool: 'cool', args: { room } })) }
  }
  return { answer: `Cooled: ${hot.map(({ room }) => room).join(', ') || 'nothing'}.` }
}

const runner = new TurnRunner({ executor: rules, tools: [measure, cool] })
runner.on('message', ({ delta }) => process.stdout.write(delta))
runner.on('toolCall', ({ tool, args, isComplete }) =>
  console.log(isComplete ? 'settled' : 'asked  ', tool, JSON.stringify(args)),
)

const outcome = await runner.run({ message: 'Keep the house cool.' })
console.log(outcome.status, '·', outcome.text)

assert.equal(outcome.status, 'completed')
assert.deepEqual(
  outcome.toolCalls.map(({ tool, settlement }) => `${tool} ${settlement}`),
  ['measure ok', 'measure ok', 'cool ok'],
)
