import { hmac128, sha256Hex } from '#hash'
import { cutText } from '../core/error/cut-text.ts'
import type { TrustTier } from '../core/trust.ts'
import { escapeChatMarkers } from './chat-markers.ts'
import { escapeTagName, TAG_NAME } from './tag-name.ts'
import { escapeCodePoint, visibleText } from './visible-text.ts'

/** What an envelope holds. */
export type EnvelopeRole =
  | 'call'
  | 'result'
  | 'error'
  | 'handle'
  | 'media'
  | 'memory'
  | 'retrievable'
  | 'summary'

export interface EnvelopeHeader {
  readonly role: EnvelopeRole
  readonly trust: TrustTier
  /** The id of the call, memory or retrievable. */
  readonly id: string
  /** Which of several parts of one id. */
  readonly index?: number
  /** Further lines of the header by fixed names; values may come from anywhere. */
  readonly details?: EnvelopeDetails
}

export type EnvelopeDetails = Readonly<Record<string, string | number | undefined>>

/** Characters of a header value that are shown; a model may ask for a tool with a name of megabytes. */
const VALUE_LIMIT = 512

/**
 * Wraps text from a stranger so that it cannot be closed, forged or nested from inside.
 *
 * The closing tag repeats a nonce that only the holder of `key` can compute: the HMAC of id, role and body.
 * The same bytes keep their nonce, and a body that was fixed beforehand cannot contain it. Apart from
 * that the body cannot spell the tag's name. Each `\u{HEX}` in it stands for one code point.
 */
export function envelope(key: Uint8Array, header: EnvelopeHeader, body: string): string {
  const { role, trust, id, index, details } = header
  const shown = bodyText(body)
  const mark = nonce(key, id, index === undefined ? role : `${role}/${index}`, sha256Hex(shown))
  let rest = index === undefined ? '' : ` index="${index}"`
  for (const name in details) {
    const value = details[name]
    if (value !== undefined) rest += ` ${name}="${headerValue(String(value))}"`
  }
  const start = `<${TAG_NAME} role="${role}" trust="${trust}" id="${headerValue(id)}"${rest}`
  return `${start} nonce="${mark}">\n${shown}\n</${TAG_NAME} nonce="${mark}">`
}

/** Text as an envelope shows it: nothing invisible, no chat markers, no tag of ours. */
export function bodyText(text: string): string {
  if (!SUSPECT.test(text)) return text
  return escapeTagName(escapeChatMarkers(visibleText(text)))
}

/** Finds any text that needs escaping; most text has none, so one test is enough. */
const SUSPECT = /[^\t\n\x20-\x7e]|\\u\{|[<[]|Human|Assistant|n[-_~]d/i

/** 128 bits in base64url over length-prefixed id, role and the digest of the body. */
function nonce(key: Uint8Array, id: string, role: string, digest: string): string {
  // Shown text is well-formed, so that two ids never become the same bytes.
  const name = visibleText(id)
  return hmac128(key, `${name.length}:${name}${role.length}:${role}64:${digest}`)
}

/** A value that stays between its quotes, on its line, within its length. */
function headerValue(value: string): string {
  if (SIMPLE.test(value)) return TAG_MIDDLE.test(value) ? escapeTagName(value) : value
  const cut = cutText(value, VALUE_LIMIT)
  const shown = bodyText(cut).replace(STRUCTURAL, (char) => escapeCodePoint(char.charCodeAt(0)))
  return cut.length === value.length ? shown : `${shown}… (${value.length} characters)`
}

/** Of each spelling of the tag's name in simple characters. */
const TAG_MIDDLE = /n[-_~]d/i
const SIMPLE = /^[\w.:/~-]{1,128}$/
const STRUCTURAL = /["'<>&=`\r\n\t]/g
