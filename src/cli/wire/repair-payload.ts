import { type Repair, type Violation, type WireApi, wire } from '../../wire/index.ts'
import { usageError } from '../command/usage-error.ts'
import { repairDirectly } from './direct-repairs.ts'
import { carrySettings } from './request-settings.ts'
import type { Fields } from './request-tools.ts'

interface Conversation {
  readonly payload: unknown
  readonly api: WireApi
}

export interface Repaired {
  readonly payload: unknown
  /** One sentence for each repair. */
  readonly repairs: readonly string[]
  readonly before: readonly Violation[]
  readonly after: readonly Violation[]
}

/** Repairs with the smallest change that helps; writes the whole conversation anew only if it must. */
export function repairPayload({ payload, api }: Conversation): Repaired {
  const before = wire(api).validate(payload)
  if (before.length === 0) return { payload, repairs: [], before, after: before }
  const direct = repairDirectly(payload, before)
  const left = wire(api).validate(direct.payload)
  if (left.length === 0) {
    return { payload: direct.payload, repairs: direct.messages, before, after: left }
  }
  const { payload: mended, repairs } = convertPayload({ payload: direct.payload, api }, api)
  const told = repairs.map(({ message }) => message)
  const after = wire(api).validate(mended)
  return { payload: mended, repairs: [...direct.messages, ...told], before, after }
}

/** Converts a conversation to a protocol. Parts that only its origin understands are left out and listed. */
export function convertPayload(
  { payload, api }: Conversation,
  to: WireApi,
): { readonly payload: unknown; readonly repairs: readonly Repair[] } {
  const { items } = wire(api).decode(payload)
  if (items.length === 0) {
    throw usageError(`There is nothing to convert: the file holds no messages of \`${api}\`.`)
  }
  const repairs: Repair[] = []
  const part = wire(to).encode(items, {
    onRepair: (repair) => void repairs.push(repair),
    // Some rules depend on the model, which a conversation of the same protocol may name.
    ...(api === to && modelOf(payload)),
  })
  if (Array.isArray(payload)) {
    const list = Object.values(part).find(Array.isArray) as unknown
    return { payload: list ?? part, repairs }
  }
  if (api === to) return { payload: { ...(payload as object), ...part }, repairs }
  const request = payload as Fields
  // A response has no settings; its other members tell how it came about.
  const isRequest = ['messages', 'input', 'contents'].some((name) => request[name] !== undefined)
  if (!isRequest) return { payload: part, repairs }
  const { settings, left } = carrySettings(request, api, to)
  const untold = left.map((item): Repair => {
    return { kind: 'left-out', item, message: `${item} has no form in \`${to}\` and was left out.` }
  })
  return { payload: { ...settings, ...part }, repairs: [...repairs, ...untold] }
}

function modelOf(payload: unknown): { readonly modelFamily?: string } {
  const { model } = (payload ?? {}) as { readonly model?: unknown }
  return typeof model === 'string' ? { modelFamily: model } : {}
}
