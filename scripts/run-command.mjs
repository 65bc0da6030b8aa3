import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { root } from './project.mjs'

/**
 * @typedef {object} Finished
 * @property {number} code exit code; 1 when a signal ended it
 * @property {string} output standard output and error together, as printed; empty when inherited
 * @property {string} stdout standard output alone
 */

/**
 * Runs a program to its end and collects what it prints, or lets it print when `show` is set.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ show?: boolean, ask?: boolean, cwd?: string, env?: NodeJS.ProcessEnv }} [options] `ask` lets it
 *   read standard input
 * @returns {Promise<Finished>}
 */
export function runCommand(file, args, options = {}) {
  const { show = false, ask = false, cwd = root, env = process.env } = options
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: [ask ? 'inherit' : 'ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    })
    let output = ''
    let stdout = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text
      stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output, stdout }))
  })
}

/**
 * Runs a JavaScript file with this very Node.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {Parameters<typeof runCommand>[2]} [options]
 */
export function runNode(file, args = [], options) {
  return runCommand(process.execPath, [file, ...args], options)
}

/**
 * Runs npm: the one that started us where there is one, else the one on the PATH.
 *
 * @param {readonly string[]} args
 * @param {Parameters<typeof runCommand>[2]} [options]
 */
export function runNpm(args, options) {
  const starter = process.env['npm_execpath'] ?? ''
  if (/^npm-cli\.c?js$/.test(basename(starter))) return runNode(starter, args, options)
  if (process.platform !== 'win32') return runCommand('npm', args, options)
  return runCommand('cmd.exe', ['/d', '/s', '/c', 'npm.cmd', ...args], options)
}

/**
 * Ends this process with a plain sentence instead of a stack.
 *
 * @param {string} message
 * @returns {never}
 */
export function giveUp(message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}
