// The limit: a loop written by hand that validates, freezes and hashes, and does nothing else.
import { hash } from 'node:crypto'
import { ANSWER, parameters, QUESTION, TOOL } from './scenario.mjs'

export async function loop(scenario) {
  const history = [Object.freeze({ role: 'user', text: QUESTION })]
  const model = async () =>
    scenario.next().map(({ id, args }) => ({ id, tool: TOOL, json: JSON.stringify(args) }))
  for (;;) {
    const asked = await model(history)
    if (asked.length === 0) {
      history.push(Object.freeze({ role: 'assistant', text: ANSWER }))
      return ANSWER
    }
    const settled = await Promise.all(
      asked.map(async ({ id, tool, json }) => {
        const args = Object.freeze(parameters.parse(JSON.parse(json)))
        const checksum = hash('sha256', JSON.stringify({ args, tool }), 'hex')
        const result = await scenario.handler(args)
        const digest = hash('sha256', result, 'hex')
        return Object.freeze({ id, tool, args, checksum, result, digest, at: Date.now() })
      }),
    )
    history.push(...settled)
  }
}
