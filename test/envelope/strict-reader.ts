/**
 * Reads prompts as a strict reader of the documented format would; it shares nothing with the code that
 * writes them. `readEnvelopes` throws on anything that is not exactly a row of whole envelopes.
 */
export interface ReadEnvelope {
  readonly attributes: ReadonlyMap<string, string>
  readonly payload: string
}

const NAME = 'bobbin-data'

export function readEnvelopes(text: string): ReadEnvelope[] {
  const found: ReadEnvelope[] = []
  let rest = text
  while (rest !== '') {
    const { envelope, length } = readOne(rest)
    found.push(envelope)
    rest = rest.slice(length)
    if (rest !== '') {
      if (!rest.startsWith('\n')) throw new Error('text between envelopes')
      rest = rest.slice(1)
    }
  }
  const spelled = foldedCount(text)
  if (spelled !== found.length * 2) {
    throw new Error(`the tag is spelled ${spelled} times in ${found.length} envelopes`)
  }
  return found
}

function readOne(text: string): { envelope: ReadEnvelope; length: number } {
  const lineEnd = text.indexOf('\n')
  const line = lineEnd === -1 ? text : text.slice(0, lineEnd)
  if (!line.startsWith(`<${NAME} `) || !line.endsWith('>')) throw new Error(`no opening: ${line}`)
  const attributes = readAttributes(line.slice(NAME.length + 1, -1))
  const nonce = attributes.get('nonce') ?? ''
  if (!/^[A-Za-z0-9_-]{22}$/.test(nonce)) throw new Error(`bad nonce: ${nonce}`)
  // Whatever closes first is the end, with whichever nonce: a body may not even try.
  const close = text.indexOf(`</${NAME}`)
  const tag = `</${NAME} nonce="${nonce}">`
  if (close === -1 || text.slice(close, close + tag.length) !== tag) throw new Error('bad closing')
  if (close <= lineEnd || text[close - 1] !== '\n') throw new Error('closing inside a line')
  const body = close - 1 < lineEnd + 1 ? undefined : text.slice(lineEnd + 1, close - 1)
  if (body === undefined) throw new Error('no body')
  if (body.includes(nonce)) throw new Error('the body holds its nonce')
  if (body.includes(`<${NAME}`)) throw new Error('nested opening')
  if (HIDDEN.test(body)) throw new Error('the body hides something')
  if (CHAT_TOKEN.test(`\n${body.normalize('NFKC')}`))
    throw new Error('the body holds a chat-template token')
  return { envelope: { attributes, payload: undo(body) }, length: close + tag.length }
}

/** Controls apart from tab and line ends, bidi marks, zero-width and tag characters, lone surrogates. */
const HIDDEN =
  /(?![\t\n\r])[\p{Cc}\p{Cs}\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u

const CHAT_TOKEN =
  /<[|｜]\w|<(?:end_of_turn|start_of_turn)>|\[\/?INST\]|<<\/?SYS>>|<\/s>|\n\nHuman:|\n\nAssistant:/

function readAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  let at = 0
  const pattern = / ([a-z-]+)="([^"<>\n\r]*)"/y
  while (at < text.length) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) throw new Error(`bad attributes: ${text}`)
    const [whole, name = '', value = ''] = match
    if (attributes.has(name)) throw new Error(`attribute ${name} twice`)
    attributes.set(name, undo(value))
    at += whole.length
  }
  return attributes
}

function undo(shown: string): string {
  return shown.replace(/\\u\{([0-9A-F]{1,6})\}/g, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}

const HOMOGLYPHS = new Map(
  Object.entries({ а: 'a', α: 'a', о: 'o', ο: 'o', օ: 'o', і: 'i', ι: 'i', ӏ: 'i', ı: 'i', Ь: 'b' })
    .concat(Object.entries({ в: 'b', ƅ: 'b', ԁ: 'd', ո: 'n', п: 'n', т: 't', τ: 't', '0': 'o' }))
    .concat(Object.entries({ '‐': '-', '‑': '-', '–': '-', '—': '-', '−': '-', _: '-', ь: 'b' }))
    .concat(Object.entries({ ʙ: 'b', ᴏ: 'o', ɪ: 'i', ɴ: 'n', ᴅ: 'd', ᴀ: 'a', ᴛ: 't', '1': 'i' })),
)

const HOMOGLYPH = new RegExp(`[${[...HOMOGLYPHS.keys()].join('')}]`, 'gu')

/** How often a reader with bad eyes sees the tag's name. */
function foldedCount(text: string): number {
  const letters = text.normalize('NFKD').replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
  const plain = letters.toLowerCase().replace(HOMOGLYPH, (char) => HOMOGLYPHS.get(char) ?? char)
  return plain.split(NAME).length - 1
}
