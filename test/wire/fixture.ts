import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { WireApi } from '../../src/model/wire/wire-adapter.ts'

/**
 * One golden payload of a protocol, kept as JSON in `src/providers/<name>/fixtures/`. The conformance
 * tests decode it, hold the calls against `calls`, encode the items back and hold that against `echo`,
 * and, for a stream, cut and re-chunk its bytes.
 */
export interface WireFixture {
  readonly title: string
  readonly api: WireApi
  /** The wire types that it shows, e.g. `function_call`. */
  readonly covers: readonly string[]
  /** `stream` has `events`; the others have `payload`. */
  readonly kind: 'response' | 'items' | 'history' | 'stream'
  readonly payload?: unknown
  readonly events?: readonly unknown[]
  /** What `decode` must give as `calls`; compared as a subset, in order. */
  readonly calls?: readonly Record<string, unknown>[]
  /** What `decode` must give as the types of `items`, in order. */
  readonly items?: readonly string[]
  /** The provider took this request, so that `validate` must have nothing against `payload`. */
  readonly accepted?: true
  /** The provider refused this request: `validate` must name this rule and no other. */
  readonly refused?: string
  /** What encoding the decoded items must give. `payload` means: the same value again. */
  readonly echo?: unknown
}

/** All fixtures that the provider folders hold, with their file names. */
export function loadFixtures(): readonly (readonly [file: string, fixture: WireFixture])[] {
  const root = fileURLToPath(new URL('../../src/providers/', import.meta.url))
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|[\\/])fixtures[\\/][^\\/]+\.json$/.test(path))
    .sort()
    .map((path) => [path, JSON.parse(readFileSync(root + path, 'utf8')) as WireFixture] as const)
}
