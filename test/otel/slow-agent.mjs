// An agent whose only call ends when the turn is aborted. It says when the call runs.
import { Tool } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'

export const model = scriptedModel([[{ call: 'slow', id: 'c1', args: {} }], [{ text: 'done' }]])
export const tools = [
  new Tool({
    name: 'slow',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    effect: 'read',
    handler: (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        process.stderr.write('the call runs\n')
        const timer = setTimeout(() => {}, 20_000)
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          reject(signal.reason)
        })
      }),
  }),
]
