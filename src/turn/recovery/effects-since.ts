import type { Settlement } from '../../records/tool-call.ts'
import type { Intent } from '../../store/entry.ts'
import type { RunnerStore } from '../../store/store.ts'
import { askStore } from '../limits/failure.ts'

/** A call that may have changed something. */
export interface CallEffect {
  readonly id: string
  readonly tool: string
}

/** How a call ends that has started. */
const STARTED: ReadonlySet<unknown> = new Set<Settlement>(['ok', 'failed', 'timed-out', 'in-doubt'])

/** What a provider runs by itself and changes nothing; its other calls may. */
const PROVIDERS_READS =
  /search|fetch|url_?context|maps|code_(interpreter|execution)|image_generation/i
/** Types on a wire under which a provider calls tools of its own only, by their names. */
const NAMED_TYPES: ReadonlySet<unknown> = new Set([
  'server_tool_use',
  'toolUse',
  'toolCall',
  'executableCode',
])

/** The calls from an entry on that started and are not `read`, in the order in which they started. */
export async function effectsSince(
  store: Pick<RunnerStore, 'entries' | 'get'>,
  conversation: string,
  from: number,
): Promise<readonly CallEffect[]> {
  const intents = new Map<string, Intent>()
  const settled = new Map<string, Data>()
  await askStore(async () => {
    for await (const entry of store.entries(conversation, { from })) {
      if (entry.kind === 'intent') intents.set(entry.data.id, entry.data)
      // A newer record of a call says how it ended.
      if (entry.kind === 'settlement') settled.set(callOf(entry.data), entry.data)
    }
  })
  const undone = new Set<unknown>()
  for (const { undoes, settlement } of settled.values()) {
    if (settlement === 'ok') undone.add(undoes)
  }
  const ended: CallEffect[] = []
  for (const [id, data] of settled) {
    // An undo is a person's own call: the model does not ask for it again.
    if (data['undoes'] !== undefined || undone.has(id) || undone.has(data['id'])) continue
    if (!STARTED.has(data['settlement'])) continue
    const isRead =
      data['executedBy'] === 'provider' ? isProvidersRead(data) : intents.get(id)?.effect === 'read'
    if (isRead || (!intents.has(id) && (await isEarlier(store, conversation, id)))) continue
    ended.push({ id, tool: text(data['tool']) })
  }
  const open = [...intents.values()].filter(
    ({ id, effect, tool }) => effect !== 'read' && !tool.startsWith('undo:') && !settled.has(id),
  )
  return [...ended, ...open.map(({ id, tool }) => ({ id, tool }))]
}

/** A call may settle long after it began: in the background, or when its doubt is resolved. */
const isEarlier = async (store: Pick<RunnerStore, 'get'>, conversation: string, id: string) =>
  (await askStore(() => store.get(conversation, 'intent', id))) !== undefined

type Data = Readonly<Record<string, unknown>>

const callOf = ({ id, supersedes }: Data): string =>
  text(supersedes) === '' ? text(id) : text(supersedes)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** An MCP tool may have any name, so the type on the wire counts first. */
function isProvidersRead({ tool, wire }: Data): boolean {
  const { type = '' } = (wire ?? {}) as { readonly type?: unknown }
  return PROVIDERS_READS.test(text(NAMED_TYPES.has(type) ? tool : type))
}
