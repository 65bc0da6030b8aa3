import { mkdir, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { LoopbackRequest } from './loopback-exchange.ts'
import { type LoopbackRecording, recordingOf } from './recording.ts'

/** Which real server to record, and where the recordings go. */
export interface LoopbackRecord {
  /** The base URL that the provider's client would have without the loopback server. */
  readonly upstream: string
  /** The folder of the recordings; `recordings` when absent. It is made, and no file in it is replaced. */
  readonly directory?: string
}

/** One request as it arrived, and where its answer goes. */
export interface Passage {
  readonly api: string
  readonly request: LoopbackRequest
  readonly headers: IncomingHttpHeaders
  readonly url: URL
  readonly body: Uint8Array<ArrayBuffer>
  readonly response: ServerResponse
  /** What the base URL of the loopback server has before the routes. */
  readonly basePath: string
}

/** The most that is kept of one answer. */
const MAX_BYTES = 64 * 1024 * 1024

/** What belongs to one connection, or was changed by reading the answer. */
const OWN_HEADERS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
])

/** Passes requests on to a real server, its answers back as they come, and writes both to files. */
export class Recorder {
  readonly recordings: LoopbackRecording[] = []
  readonly #upstream: string
  readonly #directory: string
  #files = 0

  constructor({ upstream, directory = 'recordings' }: LoopbackRecord) {
    this.#upstream = upstream.replace(/\/+$/, '')
    this.#directory = directory
  }

  async pass(passage: Passage): Promise<void> {
    const { api, request, url, body, response, basePath } = passage
    const abort = new AbortController()
    response.once('close', () => abort.abort())
    const requestHeaders = headersOf(passage.headers)
    const answer = await fetch(
      `${this.#upstream}${url.pathname.slice(basePath.length)}${url.search}`,
      // An answer is recorded as text, whatever the client can unpack.
      {
        method: 'POST',
        headers: passedOn(requestHeaders, { 'accept-encoding': 'identity' }),
        body,
        signal: abort.signal,
      },
    )
    response.writeHead(answer.status, passedOn(answer.headers))
    response.flushHeaders()
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > MAX_BYTES) throw new Error('The answer is too large to be recorded.')
      chunks.push(chunk)
      await new Promise<void>((resolve) => {
        response.write(chunk, () => resolve())
      })
    }
    // The file first: a client that has the whole answer finds its recording.
    await this.#write(
      recordingOf({
        api,
        path: request.path,
        query: url.searchParams,
        requestHeaders,
        requestBody: request.body,
        isStream: request.isStream,
        status: answer.status,
        responseHeaders: answer.headers,
        responseBytes: Buffer.concat(chunks),
      }),
    )
    response.end()
  }

  async #write(recording: LoopbackRecording): Promise<void> {
    this.recordings.push(recording)
    await mkdir(this.#directory, { recursive: true })
    const text = `${JSON.stringify(recording, null, 2)}\n`
    for (;;) {
      this.#files++
      const name = `${recording.api}-${String(this.#files).padStart(4, '0')}.json`
      try {
        return await writeFile(join(this.#directory, name), text, { flag: 'wx' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
  }
}

function headersOf(given: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    // HTTP/2 has the method and the path among its headers.
    if (name.startsWith(':')) continue
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  return headers
}

function passedOn(headers: Headers, more: Readonly<Record<string, string>> = {}) {
  const kept = [...headers].filter(([name]) => !OWN_HEADERS.has(name))
  return { ...Object.fromEntries(kept), ...more }
}
