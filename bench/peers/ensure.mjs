import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Installs the other kits on first use; they are large, and most benchmarks do without. */
export function ensurePeers() {
  const here = new URL('.', import.meta.url)
  if (existsSync(new URL('node_modules', here))) return
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: here, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
