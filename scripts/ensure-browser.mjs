import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { giveUp, runCommand } from './run-command.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const macPath = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/**
 * The path of an installed Chromium or Chrome: `CHROME_PATH` first, then the PATH.
 *
 * @returns {string | undefined}
 */
export function findBrowser() {
  const chosen = process.env['CHROME_PATH']
  if (chosen) return chosen
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...paths, macPath].find(isExecutable)
}

/** Makes sure that there is a browser: on Debian, root gets one from Debian's own packages. */
export async function ensureBrowser() {
  if (findBrowser() !== undefined) return
  if (existsSync('/etc/debian_version') && process.getuid?.() === 0) {
    process.stdout.write('Installing Chromium from Debian packages; this takes a minute or two.\n')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const update = await runCommand('apt-get', ['update', '-q'], { env })
    const args = ['install', '-y', '-q', '--no-install-recommends', 'chromium']
    const install = await runCommand('apt-get', args, { env })
    if (findBrowser() !== undefined) return
    process.stderr.write(update.output + install.output)
  }
  giveUp('The deep tests need a browser: install Chromium or Chrome, or set CHROME_PATH to one.')
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
