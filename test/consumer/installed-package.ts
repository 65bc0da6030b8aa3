import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import { runNpm } from '../../scripts/run-command.mjs'

/** The package as users get it: built, packed, and installed in a folder that has nothing else. */
export interface InstalledPackage {
  readonly folder: string
  /** Paths inside the tarball. */
  readonly packedFiles: readonly string[]
  remove(): void
}

export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-consumer-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const built = await ensureBuilt()
    if (built.code !== 0) throw new Error(`tsc failed:\n${built.output}`)
    const packed = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
    const [{ filename, files }] = JSON.parse(packed)
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    const quietly = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    await npm(['install', ...quietly, join(folder, filename)], folder)
    linkPeers(folder)
    const packedFiles = files.map(({ path }: { path: string }) => path)
    return { folder, packedFiles, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** The optional peers, as somebody has them who uses all of them; ours are the versions to test. */
function linkPeers(folder: string): void {
  for (const peer of Object.keys(manifest.peerDependencies)) {
    const link = join(folder, 'node_modules', peer)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(inRoot('node_modules', peer), link, 'dir')
  }
}

async function npm(args: readonly string[], cwd?: string): Promise<string> {
  const { code, output, stdout } = await runNpm(args, cwd === undefined ? {} : { cwd })
  if (code !== 0) throw new Error(`\`npm ${args.join(' ')}\` failed:\n${output}`)
  return stdout
}
