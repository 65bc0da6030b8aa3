import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { IMPORTED_KEY } from '../../store/entry.ts'
import type { EntryQuery, RunnerStore } from '../../store/store.ts'
import { Tool } from '../../tools/tool.ts'
import { UNDO_OF } from '../../tools/tool-class.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'
import type { CallScope } from '../call/call-scope.ts'
import { idempotencyKeyOf } from '../call/idempotency-key.ts'
import type { AskedCall } from '../log/call-state.ts'

/** Where calls and their tools are found. */
export interface UndoSource {
  readonly store: RunnerStore
  readonly tools: Pick<ToolRegistry, 'get'>
  readonly restore: RestoreContext
}

/** The tool of a call; for an undo, one that runs `undo` of the tool whose call is undone. */
export async function toolOf(scope: CallScope, { item }: AskedCall): Promise<Tool | undefined> {
  const { log, settings, restore } = scope
  if (item.undoes === undefined) return scope.toolOf(item.tool)
  const tools = { get: (name: string) => scope.toolOf(name) }
  const source = { store: settings.store, tools, restore }
  const found = await undoable(source, log.id, item.undoes, item.id)
  return 'tool' in found ? found.tool : undefined
}

/** The undo of a call, or why it cannot be undone. */
type Undoable = { readonly tool: Tool } | { readonly reason: string }

/** Finds out whether a call can be undone. An undo that is under way does not stand in its own way. */
async function undoable(
  { store, tools, restore }: UndoSource,
  conversation: string,
  toolCallId: string,
  own?: string,
): Promise<Undoable> {
  const asked = await store.get(conversation, 'settlement', toolCallId)
  if (asked === undefined) return { reason: 'there is no record of it' }
  const name = asked.data['tool'] as string
  const tool = tools.get(name)
  if (tool === undefined) return { reason: 'its tool is not among the tools of the runner' }
  if (tool.undo === undefined) return { reason: `its tool \`${name}\` has no \`undo\`` }
  // What replaced it counts: the call with edited arguments, or the record that settled a doubt.
  const records = await recordsOf(store, conversation, name)
  const newest = records.findLast((record) =>
    ['id', 'editOf', 'supersedes'].some((field) => record[field] === toolCallId),
  )
  const call = ToolCall.fromJSON(newest ?? asked.data, restore)
  const { settlement } = call
  if (settlement !== 'ok' && settlement !== 'in-doubt') {
    return { reason: `it ended \`${settlement}\`` }
  }
  const ran = call.supersedes ?? call.id
  const intent = await store.get(conversation, 'intent', ran)
  const key = intent?.data.idempotencyKey ?? IMPORTED_KEY
  // A fork has the record too. Undoing it in both would take it back twice.
  if (key !== IMPORTED_KEY && key !== idempotencyKeyOf(conversation, ran)) {
    return { reason: 'it ran in the conversation that this one was forked from: undo it there' }
  }
  const same = [toolCallId, call.id, call.editOf, call.supersedes]
  for (const undo of await recordsOf(store, conversation, `undo:${name}`)) {
    if (undo['id'] === own || !same.includes(undo['undoes'] as string)) continue
    if (undo['settlement'] === 'ok') return { reason: 'it was undone already' }
    if (undo['settlement'] === 'in-doubt') {
      return { reason: 'it is unknown whether its undo took effect' }
    }
  }
  return { tool: undoTool(tool, call) }
}

/** The stored records of a tool's calls, in the order in which they settled. */
async function recordsOf(
  store: RunnerStore,
  conversation: string,
  tool: string,
): Promise<readonly JsonObject[]> {
  const records: JsonObject[] = []
  for (let after: string | undefined; ; ) {
    const query = { conversation, kind: 'settlement', tool, ...(after !== undefined && { after }) }
    const { entries, next } = await store.find(query as EntryQuery)
    for (const { entry } of entries) records.push(entry.data as JsonObject)
    if (next === undefined) return records
    after = next
  }
}

const SCHEMA = {
  type: 'object',
  properties: { toolCallId: { type: 'string' } },
  required: ['toolCallId'],
  additionalProperties: false,
} as const

/** The approval of a tool decides about its undo too, with the arguments that the call ran with. */
function undoTool(tool: Tool, call: ToolCall): Tool {
  const { name, trust, timeoutMs, exclusive, inline, artifactConstructor } = tool
  const ran = call.effectiveArgs ?? call.args
  const options: ToolOptions<typeof SCHEMA> = {
    name,
    // A decision is about this tool as it is: another description is another tool.
    description: `Undoes a call of \`${name}\`. ${tool.description}`,
    inputSchema: SCHEMA,
    handler: (_, ctx) => tool.undo?.(call, ctx) as never,
    approval: (_, ctx) => tool.needsApproval(ran, { ...ctx, undoes: call.id }),
    trust,
    exclusive,
    inline,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(artifactConstructor && { artifactConstructor }),
  }
  const marked = { ...options, [UNDO_OF]: true }
  return new Tool(marked)
}

/** The tool that undoes a call; `E_CANNOT_UNDO` without such a tool. */
export async function requireUndo(
  source: UndoSource,
  conversation: string,
  toolCallId: string,
): Promise<Tool> {
  const found = await undoable(source, conversation, toolCallId)
  if ('tool' in found) return found.tool
  const { reason } = found
  const message = `The call \`${toolCallId}\` cannot be undone: ${reason}.`
  throw new BobbinError('E_CANNOT_UNDO', message, { toolCallId, reason })
}
