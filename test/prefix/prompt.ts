type Json = Record<string, unknown>

/** A piece of a prompt as the provider reads it, and whether a cache marker stands at its end. */
export interface Piece {
  readonly text: string
  readonly isMarked: boolean
}

/** The members of a request that are a prompt, in the order in which providers read them. */
const BEFORE = [
  'tools',
  'toolConfig',
  'system',
  'systemInstruction',
  'system_instruction',
  'instructions',
]
const LISTS = ['messages', 'input', 'contents']

/** What stands before the list of messages, and the messages, cache markers aside. */
function promptOf(body: Json): { readonly head: string; readonly list: readonly string[] } {
  const head = Object.fromEntries(Object.entries(body).filter(([name]) => !LISTS.includes(name)))
  return { head: plain(head), list: listOf(body).map(plain) }
}

/** The pieces of a prompt: tools, system texts and blocks of messages. */
export function piecesOf(body: Json): readonly Piece[] {
  const before = BEFORE.flatMap((name) => {
    const value = name === 'toolConfig' ? (body[name] as Json | undefined)?.['tools'] : body[name]
    return value === undefined ? [] : Array.isArray(value) ? value : [value]
  })
  const blocks = listOf(body).flatMap((message) => {
    const { role, content } = message as Json
    // A text stands for one block of text.
    if (typeof content === 'string') return [{ role }, { type: 'text', text: content }]
    return Array.isArray(content) ? [{ role }, ...content] : [message]
  })
  return markedPieces([...before, ...blocks])
}

/** What is marked with a member, or by a block that follows. */
function markedPieces(values: readonly unknown[]): readonly Piece[] {
  const pieces: Piece[] = []
  for (const value of values) {
    const isPoint = typeof value === 'object' && value !== null && 'cachePoint' in value
    const last = pieces.at(-1)
    if (isPoint && last) pieces[pieces.length - 1] = { ...last, isMarked: true }
    else
      pieces.push({
        text: plain(value),
        isMarked: JSON.stringify(value).includes('"cache_control"'),
      })
  }
  return pieces
}

const listOf = (body: Json): readonly unknown[] =>
  LISTS.flatMap((name) => (Array.isArray(body[name]) ? (body[name] as unknown[]) : []))

/** JSON without cache markers. One block of text is the same as the text. */
function plain(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) => {
    if (name === 'cache_control' || name === 'prompt_cache_breakpoint') return undefined
    if (!Array.isArray(member)) return member
    const blocks = member.filter(
      (each) => !(typeof each === 'object' && each !== null && 'cachePoint' in each),
    )
    const [only] = blocks as readonly Json[]
    const isText = blocks.length === 1 && only?.['type'] === 'text' && 'text' in only
    return isText && ['content', 'system'].includes(name) ? only['text'] : blocks
  })
}

/** Whether a request has another one at its beginning; only the last message of that one may have grown. */
export function isPrefix(earlier: Json, later: Json): boolean {
  const [before, after] = [promptOf(earlier), promptOf(later)]
  const isSame = before.list.slice(0, -1).every((text, at) => text === after.list[at])
  return isSame && before.head === after.head
}

/** The same, block by block: the last message may grow, but not change. */
export function begins(earlier: Json, later: Json): boolean {
  const [before, after] = [piecesOf(earlier), piecesOf(later)]
  const isSame = before.every(({ text }, at) => text === after[at]?.text)
  return isSame && promptOf(earlier).head === promptOf(later).head
}

/** Which share of the bytes of a request the next one begins with. */
export function survival(earlier: Json, later: Json): number {
  const [before, after] = [textOf(earlier), textOf(later)]
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  return same / before.length
}

function textOf(body: Json): Buffer {
  const { head, list } = promptOf(body)
  return Buffer.from([head, ...list].join('\n'))
}
