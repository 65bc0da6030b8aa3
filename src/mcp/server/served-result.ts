import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { isArtifact } from '../../spool/artifact.ts'
import { Media } from '../../spool/media.ts'
import { isJsonObject } from '../client/safe-schema.ts'
import { base64, resultsOf, resultUri } from './resources.ts'

/** Larger texts are links. */
const MAX_TEXT = 32 * 1024
/** Larger media are links. */
const MAX_MEDIA = 2 * 1024 * 1024

/** The result of a call for a client: a small result as text, a large one as a link. */
export async function servedResult(call: ToolCall, conversation: string): Promise<CallToolResult> {
  const content: ContentBlock[] = []
  let structured: unknown
  for (const [index, result] of resultsOf(call).entries()) {
    const uri = resultUri(conversation, call.id, index)
    if (Media.isMedia(result)) content.push(await mediaBlock(result, uri))
    else if (isArtifact(result)) {
      const block = await textBlock(result as SpooledArtifact, uri, `${call.tool} ${index}`)
      content.push(block)
      if (result.kind === 'json' && block.type === 'text') structured = parsed(block.text)
    } else content.push({ type: 'text', text: (result as { readonly text: string }).text })
  }
  return {
    content,
    ...(isJsonObject(structured) && { structuredContent: structured }),
    ...(call.isError && { isError: true }),
  }
}

async function textBlock(
  artifact: SpooledArtifact,
  uri: string,
  name: string,
): Promise<ContentBlock> {
  const size = artifact.byteLength()
  if (size <= MAX_TEXT) return { type: 'text', text: await artifact.asString() }
  const mimeType = artifact.kind === 'json' ? 'application/json' : 'text/plain'
  const description = `${size} bytes, ${artifact.lineCount()} lines. Read a part with ?start=0&end=65536, or query it with an artifact tool: its callId is this URI.`
  return { type: 'resource_link', uri, name, mimeType, size, description }
}

async function mediaBlock(media: Media, uri: string): Promise<ContentBlock> {
  const { kind, mimeType, filename, byteLength = 0 } = media
  if (byteLength > MAX_MEDIA) {
    return { type: 'resource_link', uri, name: filename, mimeType, size: byteLength }
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of media.stream()) chunks.push(chunk)
  const data = base64(new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer()))
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
