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

/** Hears of members as they go by; `begin` says what to do with one. */
export interface MemberListener {
  /** Whether a key is worth decoding, by its bytes between the quotes; one that is not arrives as empty text. */
  wantsKey?(raw: Uint8Array): boolean
  begin(member: JsonMember): 'skip' | 'keep' | 'stop'
  /** `pause` stops a scan so that it can be resumed behind the member. */
  end(member: EndedMember): 'go on' | 'stop' | 'pause'
}

/** Where a scan begins: at a value, or behind a member of a container. */
export interface ScanStart {
  readonly byte: number
  /** Values of NDJSON, one a line. */
  readonly lines?: boolean
  /** The value is all there is: nothing but space may come behind it. */
  readonly whole?: boolean
  readonly behind?: { readonly container: JsonContainer; readonly count: number }
}
