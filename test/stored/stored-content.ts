import { createHash } from 'node:crypto'
import { Message, type SpooledArtifact, Thought, Tokenizable, ToolCall } from '../../src/index.ts'
import { type Entry, type EntryOf, type Store, storedResults } from '../../src/store/index.ts'
import { storedGate } from '../../src/store/rows/gate-form.ts'

/** Bytes up to this length stand in the summary as text; of longer ones their digest is enough. */
const SHOWN_BYTES = 300

/** Everything that a reader must find in a store, as plain JSON. */
export async function contentOf(store: Store) {
  const conversations: Awaited<ReturnType<typeof conversationOf>>[] = []
  for (const { id } of await store.conversations()) {
    conversations.push(await conversationOf(store, id))
  }
  // By conversation: the list of all has the gate of a sub-agent once.
  const open = await Promise.all(conversations.map(({ id }) => store.openGates(id)))
  const inOrder = open
    .flat()
    .toSorted((a, b) => a.openedAt - b.openedAt || a.id.localeCompare(b.id))
  const openGates = inOrder.map(({ conversation, id }) => `${conversation} ${id}`)
  return { conversations, openGates }
}

/** What an import must keep: ids, seals and digests of entries are made anew, and so is what waits. */
export async function importedContentOf(store: Store) {
  const { conversations, openGates } = await contentOf(store)
  return {
    openGates,
    conversations: conversations.map(({ id, entries, turns, messages, calls, gates, bytes }) => ({
      // Without the note that every import adds: earlier versions added none.
      ...{ id, entries: entries - 1, turns },
      messages: messages.map(({ role, text }) => ({ role, text })),
      calls: calls.map(({ id: call, tool, checksum, settlement }) => ({
        ...{ id: call, tool, checksum, settlement },
      })),
      gates: gates.map(({ id: gate, type, state }) => ({ id: gate, type, state })),
      digests: bytes.map(({ digest }) => digest),
    })),
  }
}

async function conversationOf(store: Store, id: string) {
  const entries: Entry[] = []
  for await (const entry of store.entries(id)) entries.push(entry)
  const of = <K extends Entry['kind']>(kind: K) =>
    entries.filter((entry): entry is Extract<Entry, EntryOf<K>> => entry.kind === kind)
  const spool = storedResults(store)
  const settled = new Set(of('settlement').map(({ data }) => data['id']))
  const digests: string[] = []
  for await (const digest of store.digests(id)) digests.push(digest)
  return {
    id,
    entries: entries.length,
    kinds: kindsOf(entries),
    seals: entries.flatMap(({ seal }) => seal ?? []),
    turns: of('turn-end').map(({ turnId, data: { status, reason } }) => ({
      turnId,
      status,
      ...(reason && { code: reason.code }),
    })),
    parents: of('turn-start').flatMap(({ data: { parent } }) => parent ?? []),
    messages: of('message').map(({ data }) => messageOf(Message.fromJSON(data, { spool }))),
    thoughts: of('thought').map(({ data }) => thoughtOf(Thought.fromJSON(data))),
    items: of('history-item').map(({ data, digest }) => ({ type: data.type, id: data.id, digest })),
    calls: of('settlement').map(({ data, digest }) => ({
      digest,
      ...callOf(ToolCall.fromJSON(data, { spool })),
    })),
    unsettled: of('intent')
      .filter(({ data }) => !settled.has(data.id))
      .map(({ data: { id: call, tool, args, checksum, effect, idempotencyKey } }) => ({
        ...{ id: call, tool, args, checksum, effect, idempotencyKey },
      })),
    gates: await gatesOf(store, id, of('gate-opened')),
    notes: of('note').map(({ data: { code } }) => code),
    bytes: await Promise.all(digests.map((digest) => bytesOf(store, digest))),
  }
}

function kindsOf(entries: readonly Entry[]): Record<string, number> {
  const kinds: Record<string, number> = {}
  for (const { kind } of entries) kinds[kind] = (kinds[kind] ?? 0) + 1
  return kinds
}

const messageOf = ({ role, content, attachments }: Message) => ({
  role,
  text: content?.toString() ?? '',
  attachments: attachments.map(({ kind, mimeType, filename, digest, trustTier }) => ({
    ...{ kind, mimeType, filename, digest, trustTier },
  })),
})

const thoughtOf = ({ content, providerData }: Thought) => ({
  text: content.toString(),
  ...(providerData && { providerData }),
})

/** Named field by field: a later version may add some. */
function callOf(call: ToolCall) {
  const { id, tool, args, checksum, settlement, isError, executedBy, inline, trust } = call
  const { effectiveArgs, rawArgs, fromArtifactTool, wire, providerData } = call
  const { editOf, supersedes, redacted, createdAt, completedAt } = call
  return {
    ...{ id, tool, args, checksum, settlement, isError, executedBy, inline, trust },
    results: [call.results].flat().map(resultOf),
    fromArtifactTool,
    createdAt: createdAt.toMillis(),
    completedAt: completedAt.toMillis(),
    ...(effectiveArgs && { effectiveArgs }),
    ...(rawArgs !== undefined && {
      rawArgs: typeof rawArgs === 'string' ? rawArgs : resultOf(rawArgs),
    }),
    ...(wire && { wire }),
    ...(providerData && { providerData }),
    ...(editOf !== undefined && { editOf }),
    ...(supersedes !== undefined && { supersedes }),
    ...(redacted && { redacted }),
  }
}

/** A text as it is; of an artifact or media the stored reference, which names its bytes. */
const resultOf = (result: unknown): unknown =>
  Tokenizable.isTokenizable(result) ? result.toString() : (result as SpooledArtifact).toJSON()

async function gatesOf(store: Store, id: string, opened: readonly EntryOf<'gate-opened'>[]) {
  const gates = await Promise.all(opened.map(({ data }) => store.gate(id, data.id)))
  return gates.map((gate) => {
    // The list of what was stored has the word of that version for kind and origin.
    const type = gate && storedGate(gate).type
    const { because, state, toolCallId: callId, tool, args, digest, decision } = gate ?? {}
    const { verdict, decidedBy } = decision ?? {}
    return { id: gate?.id, type, because, state, callId, tool, args, digest, verdict, decidedBy }
  })
}

/** Where the bytes lie, and what they are when they are read. */
async function bytesOf(store: Store, digest: string) {
  const reader = await storedResults(store).read(digest)
  const bytes = await reader.read(0, reader.byteLength)
  return {
    digest,
    isRight: createHash('sha256').update(bytes).digest('hex') === digest,
    isSpooled: (await store.blob(digest)) === undefined,
    byteLength: bytes.length,
    lineCount: reader.lineCount,
    ...(bytes.length <= SHOWN_BYTES && { text: Buffer.from(bytes).toString() }),
  }
}
