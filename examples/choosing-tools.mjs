// Tools that vary: by user, by step, forced at first, and tools that a server lists as plain JSON Schema.
import assert from 'node:assert/strict'
import { modelExecutor, Tool, ToolRegistry, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { z } from 'zod'

/** @param {string} name @param {Partial<import('bobbin-adk').ToolOptions>} [options] */
const toolNamed = (name, options) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: z.object({ query: z.string().optional() }),
    effect: 'read',
    trust: 'first-party',
    handler: () => `${name} is done`,
    ...options,
  })
const search = toolNamed('search')
const publish = toolNamed('publish', { effect: 'write' })
const model = scriptedModel([
  [{ call: 'publish' }],
  [{ text: 'I may not.' }],
  [{ call: 'search', args: { query: 'spools' } }],
  [{ call: 'publish' }],
  [{ text: 'Published.' }],
  [{ call: 'docs_find', args: { words: 'spool', limit: '3' } }],
  [{ call: 'docs_find', args: { words: 'spool', limit: 3 } }],
  [{ text: 'Found.' }],
])

// #region user
/** @param {{ isEditor: boolean }} user */
const runnerFor = (user) =>
  new TurnRunner({ model, tools: user.isEditor ? [search, publish] : [search] })
// #endregion user

const guest = await runnerFor({ isEditor: false }).run({ message: 'Publish it.' })
assert.deepEqual(
  guest.toolCalls.map(({ tool, settlement }) => [tool, settlement]),
  [['publish', 'refused']], // a tool that a runner does not have cannot be called
)

// #region step
const mustSearch = modelExecutor(model, { toolChoice: { tool: 'search' } })
const free = modelExecutor(model)
const runner = new TurnRunner({
  tools: [search, publish],
  executor: (ctx, helpers) => {
    if (ctx.iteration > 1) return free(ctx, helpers)
    // At first the model is offered one tool, and must call it.
    return mustSearch({ ...ctx, tools: new ToolRegistry([search]) }, helpers)
  },
})
// #endregion step

const outcome = await runner.run({ message: 'Look it up, then publish it.' })
assert.equal(outcome.text, 'Published.')
const [first, second] = model.requests.slice(2)
assert.deepEqual(first?.toolChoice, { tool: 'search' })
assert.deepEqual(
  first?.tools?.map(({ name }) => name),
  ['search'],
)
assert.equal(second?.toolChoice, undefined)
assert.equal(second?.tools?.length, 2)

// What a server with tools of its own lists, and how it is called; its client would do both.
const listed = [
  {
    name: 'docs.find',
    description: 'Searches the manual.',
    /** @type {{ type: 'object' } & import('bobbin-adk').JsonObject} */
    inputSchema: {
      type: 'object',
      properties: { words: { type: 'string' }, limit: { type: 'integer' } },
      required: ['words'],
      additionalProperties: false,
    },
  },
]
/** @param {string} name @param {object} args */
const callServer = async (name, args) => ({
  isError: false,
  content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }],
})

// #region listed
const remote = listed.map(
  ({ name, description, inputSchema }) =>
    new Tool({
      name: name.replaceAll(/[^\w-]/g, '_').slice(0, 64), // what every provider takes
      description,
      inputSchema, // plain JSON Schema: shown to the model as it is, and held against its arguments
      handler: async (args) => {
        const { isError, content } = await callServer(name, args)
        const text = content.map((part) => part.text).join('\n')
        if (isError) throw new Error(text) // the call settles as `failed`, and the model reads why
        return text
      },
    }),
)
// #endregion listed

const found = await new TurnRunner({ model, tools: remote }).run({ message: 'What is a spool?' })
assert.deepEqual(
  found.toolCalls.map(({ settlement }) => settlement),
  ['refused', 'ok'], // '3' is not an integer
)
model.done()
console.log('Tools by user, by step, forced, and from a list.')
