import type { Artifact } from '../../spool/artifact.ts'
import { type Calls, listed } from './known-calls.ts'
import { type Query, queriesOf } from './query.ts'
import { renderAnswer } from './render-answer.ts'

/** Gives what a query of an artifact of a call is about. */
export type OpenArtifact = (
  callId: string,
  artifact: Artifact,
  signal: AbortSignal,
) => Promise<Artifact>

/** Which artifacts a question can be about, and how long its answer may take. */
interface Asking {
  readonly calls: Calls
  readonly answers: (artifact: Artifact) => boolean
  readonly open?: OpenArtifact | undefined
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Runs a query as the model asked it. The model's mistakes are errors that say what to do instead. */
export async function answerQuery(
  query: Query,
  { callId, index, ...rest }: Readonly<Record<string, unknown>>,
  { calls, answers, open, signal, timeoutMs }: Asking,
): Promise<string> {
  const found = find(calls, String(callId), index === undefined ? 0 : Number(index), answers)
  const own = queriesOf(found.constructor).get(query.name) ?? query
  return run(signal, timeoutMs, async (inner) => {
    const subject = await open?.(String(callId), found, inner)
    return renderAnswer(await own.run(subject ?? found, rest as never, { signal: inner }))
  })
}

/** The artifact that was meant. The schema has refused unknown calls. */
function find(
  calls: Calls,
  callId: string,
  index: number,
  answers: (artifact: Artifact) => boolean,
): Artifact {
  const artifacts = calls.get(callId) ?? []
  const artifact = artifacts[index]
  if (artifact !== undefined && answers(artifact)) return artifact
  const usable = artifacts.flatMap((each, at) => (answers(each) ? [String(at)] : []))
  const what =
    artifact === undefined
      ? `has no result ${index}`
      : `has a result ${index} of kind ${artifact.kind}, which this tool does not read`
  throw new Error(
    `the call \`${callId}\` ${what}. Use one of these as \`index\`: ${listed(usable)}.`,
  )
}

async function run(
  outer: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<string>,
): Promise<string> {
  try {
    return await within(timeoutMs, outer, work)
  } catch (error) {
    if (error !== TOO_LATE) throw error
    const limit = `no answer within ${timeoutMs / 1000} s`
    throw new Error(`${limit}. Ask for less: fewer lines, a narrower range or path.`, {
      cause: error,
    })
  }
}

const TOO_LATE = new Error('the time for an answer is up')

/** Ends the wait at the time limit or the outer abort; work that does not heed its signal is left behind. */
async function within<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const relay = () => controller.abort(outer.reason)
  const timer = setTimeout(() => controller.abort(TOO_LATE), timeoutMs)
  outer.addEventListener('abort', relay, { once: true })
  if (outer.aborted) relay()
  try {
    signal.throwIfAborted()
    return await new Promise<T>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      work(signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', relay)
  }
}
