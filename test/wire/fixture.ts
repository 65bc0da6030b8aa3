import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { WireFixture } from '../../src/model/provider-definition.ts'

export type { WireFixture }

/** All fixtures that the provider folders hold, with their file names. */
export function loadFixtures(): readonly (readonly [file: string, fixture: WireFixture])[] {
  const root = fileURLToPath(new URL('../../src/providers/', import.meta.url))
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|[\\/])fixtures[\\/][^\\/]+\.json$/.test(path))
    .sort()
    .map((path) => [path, JSON.parse(readFileSync(root + path, 'utf8')) as WireFixture] as const)
}
