import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'
import { runCommand, runNpm } from '../../scripts/run-command.mjs'

/** The package as users get it: built, packed, and installed in a folder that has nothing else. */
export interface InstalledPackage {
  readonly folder: string
  /** Paths inside the tarball. */
  readonly packedFiles: readonly string[]
  remove(): void
}

/** Installs with npm. */
export const installPackage = () =>
  consumerOf(async (folder, tarball) => {
    const quietly = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    await npm(['install', ...quietly, tarball], folder)
  })

/** Unpacks, and links to what the package declares. npm takes a few seconds longer for the same. */
export const linkPackage = () =>
  consumerOf(async (folder, tarball) => {
    const home = join(folder, 'node_modules', manifest.name)
    mkdirSync(home, { recursive: true })
    const { code, output } = await runCommand('tar', ['-xzf', tarball, '--strip-components=1'], {
      cwd: home,
    })
    if (code !== 0) throw new Error(`tar failed:\n${output}`)
    link(folder, { ...manifest.dependencies, ...manifest.optionalDependencies })
  })

async function consumerOf(
  install: (folder: string, tarball: string) => Promise<void>,
): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-consumer-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const built = await ensureBuilt()
    if (built.code !== 0) throw new Error(`tsc failed:\n${built.output}`)
    const packed = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
    const [{ filename, files }] = JSON.parse(packed)
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    await install(folder, join(folder, filename))
    // The optional peers, as somebody has them who uses all of them; ours are the versions to test.
    link(folder, manifest.peerDependencies)
    const packedFiles = files.map(({ path }: { path: string }) => path)
    return { folder, packedFiles, remove }
  } catch (error) {
    remove()
    throw error
  }
}

function link(folder: string, packages: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(packages)) {
    const place = join(folder, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(inRoot('node_modules', name), place, 'dir')
  }
}

async function npm(args: readonly string[], cwd?: string): Promise<string> {
  const { code, output, stdout } = await runNpm(args, cwd === undefined ? {} : { cwd })
  if (code !== 0) throw new Error(`\`npm ${args.join(' ')}\` failed:\n${output}`)
  return stdout
}
