import { readdirSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Model } from '../../src/model/model.ts'
import type { ModelSample, ModelSettings } from './model-sample.ts'
import type { Step } from './native-history.ts'
import type { WireScript } from './wire-script.ts'

type Json = Record<string, unknown>

/** What one protocol brings to the tests that all protocols run: `fixtures/samples.ts` in its folder. */
export interface ProviderSamples {
  readonly api: string
  /** Every type of tool call and tool output; for a dialect, those that it adds. */
  readonly types: readonly string[]
  /** The path of a streaming request, after the URL of its loopback server. */
  readonly path: string
  /** A model with its official client. */
  open(url: string, settings?: ModelSettings): Model
  /** Other ways to the same server, by a name for each. */
  readonly otherWays?: Readonly<Record<string, (url: string, settings?: ModelSettings) => Model>>
  /** How its own client would write a conversation: the list that its request holds. */
  history(steps: readonly Step[]): Json[]
  /** One response with a call of `t` under each id, and then the results in the same order: `result 0`, … */
  idHistory(ids: readonly (string | null | undefined)[]): object[]
  /** Two calls of `look` with `INPUTS` as arguments, in pieces, mixed where the protocol allows it. */
  readonly interleaved: readonly object[]
  readonly script: WireScript
  readonly model: ModelSample
}

/** Found by its place, so that a new protocol is listed nowhere. */
async function loadSamples(): Promise<readonly ProviderSamples[]> {
  const root = fileURLToPath(new URL('../../src/providers/', import.meta.url))
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|[\\/])fixtures[\\/]samples\.ts$/.test(path))
    .sort()
  const modules = paths.map(
    async (path) =>
      (await import(pathToFileURL(root + path).href)) as { readonly samples: ProviderSamples },
  )
  return (await Promise.all(modules)).map(({ samples }) => samples)
}

const all = await loadSamples()
const byName = new Map(
  all.flatMap((samples) => [
    [samples.api, samples] as const,
    ...Object.entries(samples.otherWays ?? {}).map(
      ([way, open]) => [`${samples.api} ${way}`, { ...samples, open }] as const,
    ),
  ]),
)

/** The protocols that have samples. */
export const APIS: readonly string[] = all.map(({ api }) => api)

/** The same, and the other ways to them. */
export const WAYS: readonly string[] = [...byName.keys()]

/** The samples of one protocol, or of another way to it. */
export function samplesOf(name: string): ProviderSamples {
  const found = byName.get(name)
  if (found === undefined) throw new Error(`no folder of src/providers has samples of ${name}`)
  return found
}
