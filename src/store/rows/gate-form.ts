import type { Gate, GateRequest } from '../gate.ts'

type Origin = Pick<GateRequest, 'kind' | 'from'>
type Renamed = Origin & Pick<GateRequest, 'toolCallId'> & Partial<Pick<Gate, 'why'>>

/** Stored gates have one word for kind and origin: the format of the first version, which older readers expect. */
const TYPES: Readonly<Record<string, Origin>> = {
  approval: { kind: 'approval', from: 'runner' },
  'provider-approval': { kind: 'approval', from: 'provider' },
  'provider-consent': { kind: 'link', from: 'provider' },
}

/** A gate as it is stored and exported. `callId` is the name that the first version had for the waiting call. */
export type StoredGate<G extends Renamed = Gate> = Omit<G, keyof Renamed> & {
  readonly type: string
  readonly callId?: string
}

/** The stored form of a gate. */
export function storedGate<G extends Renamed>(given: G): StoredGate<G> {
  // A reader makes `why` anew, so that its words can be improved.
  const { kind, from, toolCallId, why: _, ...gate } = given
  const isSame = ([, origin]: readonly [string, Origin]) =>
    origin.kind === kind && origin.from === from
  const type = Object.entries(TYPES).find(isSame)?.[0] ?? kind
  return { ...gate, type, ...(toolCallId !== undefined && { callId: toolCallId }) }
}

/** The gate that a stored form describes. */
export function restoredGate<G extends Renamed>({ type, callId, ...gate }: StoredGate<G>): G {
  const origin = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  const call = callId !== undefined && { toolCallId: callId }
  return { ...gate, ...call, ...(origin ?? { kind: type, from: 'runner' }) } as unknown as G
}
