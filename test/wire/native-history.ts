/** One response of a conversation: what the model thought and asked for, and what came back. */
export interface Step {
  readonly thought: string
  readonly signature: string
  readonly calls: readonly {
    readonly id: string
    readonly tool: string
    readonly args: { readonly [name: string]: string | number }
    readonly result: string
  }[]
}

/** A conversation of 30 calls in 15 responses of one, two and three calls. */
export function steps(label: string, responses = 15): readonly Step[] {
  return Array.from({ length: responses }, (_, response) => ({
    thought: `step ${response}`,
    signature: `sig-${label}-${response}==`,
    calls: Array.from({ length: (response % 3) + 1 }, (_call, index) => ({
      id: `${label}_${response}_${index}`,
      tool: index === 1 ? 'read_log' : 'search',
      args: { query: `query ${response}.${index} — “ü”`, limit: response },
      result: `result ${response}.${index}`,
    })),
  }))
}

const OPAQUE = new Set([
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'toolUseId',
  'redactedContent',
  'signature',
  'thoughtSignature',
  'encrypted_content',
])

/** Every id and signature in a payload, in order. */
export function opaqueValues(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(opaqueValues)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    OPAQUE.has(key) ? [`${key} ${String(member)}`] : opaqueValues(member),
  )
}
