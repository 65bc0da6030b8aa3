/** What kind of value begins with a byte. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** Whose members are scanned: those of an array or object, or the values of NDJSON. */
export type JsonContainer = 'array' | 'object' | 'lines'

/** A member of a container whose value begins. */
export interface JsonMember {
  readonly index: number
  /** The key of an object's member, cut when it is very long. */
  readonly key: string | undefined
  readonly type: JsonType
  readonly start: number
}

/** A member of a container whose value is over. */
export interface EndedMember extends JsonMember {
  readonly end: number
  /** The bytes, when they were asked for and are not too many; good until `end` returns. */
  readonly bytes: Uint8Array | undefined
}

/** Receives each member of a container; `begin` decides what to do with it. */
export interface MemberListener {
  /** Whether to decode a key, by its bytes between the quotes; other keys arrive as empty text. */
  wantsKey?(raw: Uint8Array): boolean
  begin(member: JsonMember): 'skip' | 'keep' | 'stop'
  /** `pause` stops a scan; it can be resumed after the member. */
  end(member: EndedMember): 'continue' | 'stop' | 'pause'
}

/** Where a scan begins: at a value, or after a member of a container. */
export interface ScanStart {
  readonly byte: number
  /** Values of NDJSON, one a line. */
  readonly lines?: boolean
  /** Only space may follow the value. */
  readonly whole?: boolean
  readonly behind?: { readonly container: JsonContainer; readonly count: number }
}
