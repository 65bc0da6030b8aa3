import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {(task: string, options?: object) => Promise<any>} ask Fails with what the subject said when it ends instead.
 * @property {() => void} stop
 */

const SUBJECT = fileURLToPath(new URL('../bench/peers/subject.mjs', import.meta.url))
// While it waits for its next sample an engine would collect, and throw compiled code away with it.
const FLAGS = ['--expose-gc', '--no-memory-reducer']

/**
 * Starts a loop in a process of its own, ready to be asked.
 *
 * @param {string} name of a file in `bench/peers`
 * @param {string} [node] the engine that runs it
 * @returns {Promise<Subject>}
 */
export async function startSubject(name, node = process.execPath) {
  const child = fork(SUBJECT, [name], {
    execPath: node,
    execArgv: FLAGS,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-4_000)
  })
  const ended = new Promise((_, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      reject(new Error(`The subject \`${name}\` ended with ${code ?? signal}:\n${said}`))
    })
  })
  // It may end between two questions; the next question then fails.
  ended.catch(() => undefined)
  const answer = async () => (await Promise.race([once(child, 'message'), ended]))[0]
  await answer()
  return {
    name,
    ask(task, options = {}) {
      child.send({ task, ...options }, () => undefined)
      return answer()
    },
    stop: () => void child.kill(),
  }
}
