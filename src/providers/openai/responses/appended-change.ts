import type { JsonObject } from '../../../core/json/json.ts'
import { type AppendedChange, CHANGED, type SayChange } from '../../../model/appended-changes.ts'
import type { AppendTarget } from '../../../model/provider-definition.ts'
import { isAt } from '../../../model/wire/is-at.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { takesBreakpoints } from '../cache-breakpoints.ts'
import { functionParam } from './request.ts'

/** Changes as messages of the developer and as added tools, for OpenAI's own hosts. The API cannot say that a tool was removed. */
export function appendsFor(api: string) {
  return ({ model, endpoint, appends }: AppendTarget): SayChange | undefined => {
    if (!(appends ?? isAt(endpoint, 'openai.com'))) return undefined
    // No page says which models take `additional_tools`. It is as young as breakpoints.
    const hasTools = appends ?? takesBreakpoints(model)
    return (change) => say(api, change, hasTools)
  }
}

function say(
  api: string,
  { instructions, added, restored, removed }: AppendedChange,
  hasTools: boolean,
): readonly HistoryItem[] | undefined {
  if (removed.length + restored.length > 0 || (added.length > 0 && !hasTools)) return undefined
  const tools = added.map((tool) => functionParam(tool) as unknown as JsonObject)
  const text = `${CHANGED}\n\n${instructions ?? ''}`
  return [
    ...(instructions ? [raw(api, { type: 'message', role: 'developer', content: text })] : []),
    ...(tools.length > 0
      ? [raw(api, { type: 'additional_tools', role: 'developer', tools: [...tools] })]
      : []),
  ]
}

const raw = (api: string, value: JsonObject) => ({ type: 'raw', api, role: 'user', value }) as const
