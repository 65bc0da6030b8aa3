import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inRoot } from './project.mjs'
import { runCommand } from './run-command.mjs'

/** Where the S3 server of Ceph is unpacked. */
export const s3Folder = inRoot('.cache', 'radosgw')

/**
 * Makes sure that Ceph's S3 server is unpacked: Debian's own packages, without installing them. Says why not where
 * that cannot be done.
 *
 * @returns {Promise<string | undefined>}
 */
export async function ensureS3() {
  if (existsSync(join(s3Folder, 'usr/bin/radosgw'))) return undefined
  if (!existsSync('/etc/debian_version')) return 'the S3 server comes from Debian packages'
  process.stdout.write('Unpacking an S3 server from Debian packages; this takes a few seconds.\n')
  mkdirSync(inRoot('.cache'), { recursive: true })
  const folder = mkdtempSync(`${s3Folder}-`)
  try {
    const packages = join(folder, 'packages')
    const root = join(folder, 'root')
    mkdirSync(join(packages, 'partial'), { recursive: true })
    mkdirSync(root)
    const download = () => runCommand('apt-get', DOWNLOAD(packages))
    let downloaded = await download()
    if (downloaded.code !== 0) {
      await runCommand('apt-get', ['update', '-q'])
      downloaded = await download()
    }
    if (downloaded.code !== 0) return `apt-get could not load it: ${downloaded.output.slice(-500)}`
    for (const file of readdirSync(packages).filter((name) => name.endsWith('.deb'))) {
      await runCommand('dpkg', ['-x', join(packages, file), root])
    }
    renameSync(root, s3Folder)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} folder */
const DOWNLOAD = (folder) => [
  ...['install', '-y', '-q', '--no-install-recommends', '--download-only', '--reinstall'],
  ...['-o', `Dir::Cache::archives=${folder}`, '-o', 'Debug::NoLocking=1'],
  ...['radosgw', 'ceph-mon', 'ceph-osd'],
]
