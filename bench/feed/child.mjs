import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** How long any answer of a process may take. */
const LIMIT_MS = 180_000

/** Starts a file of this folder as a process. `hello` is the first thing that it says. */
export async function startChild(file, ...args) {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(path, args.map(String), { execArgv: ['--no-memory-reducer'] })
  const next = () =>
    new Promise((resolve, reject) => {
      const over = (act) => (value) => {
        clearTimeout(timer)
        child.removeAllListeners('message').removeAllListeners('exit')
        act(value)
      }
      const fail = over((why) => reject(new Error(`\`${[file, ...args].join(' ')}\` ${why}`)))
      const timer = setTimeout(() => {
        child.kill()
        fail(`did not answer within ${LIMIT_MS / 1000} seconds`)
      }, LIMIT_MS)
      child.once('message', over(resolve))
      child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`))
    })
  const hello = await next()
  return {
    hello,
    async ask(task, options) {
      const answer = next()
      child.send({ task, ...options })
      const { result, error } = await answer
      if (error !== undefined) throw new Error(error)
      return result
    },
    stop: () => void child.kill(),
  }
}
