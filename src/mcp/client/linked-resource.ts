import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledLink } from '../../artifacts/spooled-link.ts'
import type { Artifact } from '../../spool/artifact.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { asSignIn } from '../access/sign-in.ts'
import { type Connection, failureText } from './connection.ts'
import { fateOf } from './fate.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly, shownInLine } from './stranger-text.ts'

/** A resource that a result links to, as its server describes it. */
export interface ResourceLink {
  readonly uri: string
  readonly name?: unknown
  readonly title?: unknown
  readonly description?: unknown
  readonly mimeType?: unknown
  readonly size?: unknown
}

const MAX_URI = 2_000
const MAX_TEXT = 500
/** How much of one resource is kept at most, and of all resources of a server. */
const MAX_CHARS = 16 * 1024 * 1024
const MAX_KEPT_BYTES = 64 * 1024 * 1024
/** How often a resource is asked for while connections are lost. */
const TRIES = 3

const URI = 'uri: '
const HOW =
  'The artifact tools read it from the server when they are asked about this result. If they give this text, the server is not connected: call the tool again.'

/** The text of a link: what a model reads before it asks. Each field of the server stays on its line. */
export function linkText(link: ResourceLink): string {
  const shown = (['name', 'title', 'description', 'mimeType'] as const).flatMap((key) => {
    const value = link[key]
    return typeof value === 'string' ? [`${key}: ${shownInLine(value, MAX_TEXT)}`] : []
  })
  const size = typeof link.size === 'number' ? [`size: ${link.size} bytes`] : []
  const uri = `${URI}${shownInLine(link.uri, MAX_URI)}`
  const how = isReadable(link.uri) ? HOW : 'This address is too long, or hides characters.'
  return ['Link to a resource', uri, ...shown, ...size, how, ''].join('\n')
}

/** The class of a link's text: a text alone if the address cannot be read back from it. */
export const linkClass = ({ uri }: ResourceLink): typeof SpooledArtifact =>
  isReadable(uri) ? SpooledLink : SpooledArtifact

const isReadable = (uri: string) => uri !== '' && shownInLine(uri, MAX_URI) === uri

interface Opened {
  readonly contents: Promise<SpooledArtifact>
  bytes: number
}

/** The resources of one server that were read for links. No address is ever opened by this process. */
export class LinkedResources {
  readonly #connection: Connection
  readonly #maxBytes: number
  /** The oldest first. */
  readonly #opened = new Map<Artifact, Opened>()

  constructor(connection: Connection, maxBytes = MAX_KEPT_BYTES) {
    this.#connection = connection
    this.#maxBytes = maxBytes
  }

  /** What a link leads to, read once as long as there is room to keep it. */
  async open(link: Artifact, signal: AbortSignal): Promise<Artifact> {
    const known = this.#opened.get(link)
    if (known !== undefined) return known.contents
    const opened = { contents: this.#load(link, signal), bytes: 0 }
    this.#opened.set(link, opened)
    try {
      const contents = await opened.contents
      opened.bytes = contents.byteLength()
      this.#forgetOldest()
      return contents
    } catch (error) {
      this.#opened.delete(link)
      throw error
    }
  }

  #forgetOldest(): void {
    let left = [...this.#opened.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    for (const [link, { bytes }] of this.#opened) {
      if (left <= this.#maxBytes) return
      this.#opened.delete(link)
      left -= bytes
    }
  }

  async #load(link: Artifact, signal: AbortSignal): Promise<SpooledArtifact> {
    const answer = await this.#read(await uriIn(link), signal)
    const contents = isJsonObject(answer) ? answer['contents'] : undefined
    const texts = (Array.isArray(contents) ? contents : []).map((each: unknown) => textOf(each))
    const text = texts.join('\n')
    if (text.length > MAX_CHARS) {
      throw new Error(`The resource has more than ${MAX_CHARS} characters. Ask for a smaller part.`)
    }
    return new SpooledArtifact(await memorySpool().write(text))
  }

  /** Reading changes nothing, so it is repeated when a connection is lost. */
  async #read(uri: string, signal: AbortSignal): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const client = await this.#connection.client(signal)
      try {
        return await this.#connection.request(client, () =>
          client.readResource({ uri }, { signal }),
        )
      } catch (error) {
        signal.throwIfAborted()
        // Only a person can help; each further try would open another page.
        const signIn = asSignIn(error)
        if (signIn !== undefined) throw signIn
        const fate = fateOf(error)
        if (fate === 'lost' || fate === 'not-sent') this.#connection.lost(client)
        if (fate === 'answered' || fate === 'unreadable' || tries === TRIES) {
          const why = shownBriefly(failureText(error), MAX_TEXT)
          throw new Error(`The resource could not be read: ${why}`, { cause: error })
        }
      }
    }
  }
}

/** The address in the text of a link. */
async function uriIn(link: Artifact): Promise<string> {
  const text = SpooledArtifact.isSpooledArtifact(link) ? await link.asString() : ''
  const line = text.split('\n').find((each) => each.startsWith(URI)) ?? ''
  return line.slice(URI.length)
}

function textOf(contents: unknown): string {
  if (!isJsonObject(contents)) return ''
  const { text, blob, mimeType } = contents
  if (typeof text === 'string') return text
  const type = typeof mimeType === 'string' ? shownInLine(mimeType, 100) : 'unknown type'
  const size = typeof blob === 'string' ? Math.floor((blob.length * 3) / 4) : 0
  return `[${size} bytes of ${type}, which cannot be shown as text]`
}
