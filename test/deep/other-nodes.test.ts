import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../scripts/run-command.mjs'
import { importNames } from '../consumer/import-names.ts'
import { type InstalledPackage, installPackage } from '../consumer/installed-package.ts'
import { publicExports } from '../consumer/public-exports.ts'
import { installNode, nodeLines } from './node-lines.ts'

// The binaries come in a package for this one platform.
const runsHere = process.platform === 'linux' && process.arch === 'x64'

describe.runIf(runsHere)(
  'the published package on other Node lines (on linux-x64, where the binaries run)',
  () => {
    let installed: InstalledPackage

    beforeAll(async () => {
      installed = await installPackage()
    })

    afterAll(() => installed?.remove())

    it.each(nodeLines)('imports by every subpath on Node %s', async (version) => {
      const node = await installNode(version)
      const { stdout } = await runCommand(node, ['--version'])
      expect(stdout.trim()).toBe(`v${version}`)
      const names = await importNames(installed.folder, Object.keys(publicExports), node)
      const expected = Object.entries(publicExports).map(([path, { values }]) => [
        path,
        [...values].sort(),
      ])
      expect(names).toEqual(Object.fromEntries(expected))
    })
  },
)
