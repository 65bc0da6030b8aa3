/** A whole agent file: it runs without a key. */
const SAMPLE = `import { Tool } from 'bobbin-adk'

const now = new Tool({
  name: 'now',
  description: 'Gives the time.',
  inputSchema: { type: 'object', properties: {} },
  effect: 'read',
  handler: () => new Date().toTimeString(),
})
export const tools = [now]
// Decides until a model does.
export const offline = async ({ turnToolCalls: [call] }) =>
  call
    ? { answer: await call.results.asString() }
    : { calls: [{ tool: 'now', args: {} }] }
`

/** Says how to write an agent file; the sample in it is a program that runs. */
export const NO_AGENT = `This folder has no agent file: write \`agent.mjs\`, or name one with --agent FILE.

For a start, put this into agent.mjs:

${SAMPLE.replace(/^(?=.)/gm, '  ')}
Then run:

  npm install bobbin-adk
  npx bobbin-adk run "What time is it?"

With OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY set, a model decides.`
