import { sealKeyOf, sealUnder } from './seal.ts'

interface Sealed {
  readonly digest: string
}

interface Sealable extends Sealed {
  readonly kind: string
  sealing: LazySeal | undefined
}

/** What a seal is made of, as long as nobody has asked for it. */
interface Parts {
  readonly key: Uint8Array
  readonly conversation: string
  readonly previous: LazySeal | undefined
  /** The entries of the turn that were there before those of the append that ends it. */
  readonly before: { rows(): readonly Sealed[] } | undefined
  readonly rows: readonly Sealed[]
}

/** What the seals of rows begin with. */
type Beginning = Omit<Parts, 'rows'>

/** Seals every turn that ends among rows. */
export function sealRows(rows: readonly Sealable[], beginning: Beginning): void {
  let { previous, before }: Beginning = beginning
  let turn: Sealable[] = []
  for (const row of rows) {
    turn.push(row)
    if (row.kind !== 'turn-end') continue
    row.sealing = previous = new LazySeal({ ...beginning, previous, before, rows: turn })
    before = undefined
    turn = []
  }
}

/** The seal of a turn whose entries cannot change, computed when it is first read. */
export class LazySeal {
  #parts: Parts | undefined
  #text = ''

  constructor({ key, ...parts }: Parts) {
    // The key that seals is all it keeps of the conversation's key.
    this.#parts = { ...parts, key: sealKeyOf(key) }
  }

  get text(): string {
    // Turn by turn from the last one that is known: a long log would be too deep for recursion.
    const open: LazySeal[] = [this]
    for (let at = 0; at < open.length; at++) {
      const previous = (open[at] as LazySeal).#previous
      if (previous !== undefined) open.push(previous)
    }
    for (const seal of open.reverse()) seal.#close()
    return this.#text
  }

  get #previous(): LazySeal | undefined {
    return this.#parts === undefined ? undefined : this.#parts.previous
  }

  #close(): void {
    if (this.#parts === undefined) return
    const { key, conversation, previous: last, before, rows } = this.#parts
    const digests = [...(before?.rows() ?? []), ...rows].map(({ digest }) => digest)
    const previous = last === undefined ? '' : last.#text
    this.#text = sealUnder(key, { conversation, previous, digests })
    this.#parts = undefined
  }
}
