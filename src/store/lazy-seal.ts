import { sealKeyOf, sealUnder } from './seal.ts'

/** What a seal is made of, as long as nobody has asked for it. */
interface Parts {
  readonly key: Uint8Array
  readonly conversation: string
  readonly previous: LazySeal | undefined
  /** The entries of the turn, in order. */
  readonly rows: readonly { readonly digest: string }[]
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
    const { key, conversation, previous, rows } = this.#parts
    const digests = rows.map(({ digest }) => digest)
    const before = previous === undefined ? '' : previous.#text
    this.#text = sealUnder(key, { conversation, previous: before, digests })
    this.#parts = undefined
  }
}
