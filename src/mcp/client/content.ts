import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { TrustTier } from '../../core/trust.ts'
import type { Artifact } from '../../spool/artifact.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import type { ToolContext, ToolOutput } from '../../tools/tool-context.ts'
import type { Definition } from './definition.ts'
import { linkClass, linkText } from './linked-resource.ts'
import { isOfType, mediaKind } from './media-type.ts'
import { isJsonObject, textIn } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'

/** What turning a result into output needs. */
export interface ContentScope {
  readonly trust: TrustTier
}

const MAX_BLOCKS = 1_000
const MAX_ERROR = 8_000
const MAX_FAULTS = 8

/**
 * The output of a call from the result of a server: its blocks in their order, then the structured content. A result
 * that says it is an error is thrown.
 */
export async function contentOutput(
  definition: Definition,
  result: unknown,
  ctx: ToolContext,
  scope: ContentScope,
): Promise<ToolOutput> {
  const { content, structuredContent, isError } = isJsonObject(result) ? result : {}
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  if (isError === true) throw new Error(errorText(blocks))
  if (blocks.length > MAX_BLOCKS) {
    throw new Error(`The tool ran. Its result has more than ${MAX_BLOCKS} parts and was not kept.`)
  }
  const parts: (Media | Artifact)[] = []
  for (const [index, block] of blocks.entries()) {
    parts.push(await partOf(block, index, definition, ctx, scope))
  }
  await checkOutput(definition, structuredContent)
  if (structuredContent !== undefined) {
    parts.push(await ctx.spool(JSON.stringify(structuredContent, null, 2), SpooledJsonArtifact))
  }
  const [first] = parts
  if (first === undefined) return ctx.spool('')
  return parts.length === 1 ? first : parts
}

async function partOf(
  block: unknown,
  index: number,
  { name }: Definition,
  ctx: ToolContext,
  { trust }: ContentScope,
): Promise<Media | Artifact> {
  if (!isJsonObject(block)) return ctx.spool('[a part of the result that cannot be read]')
  switch (block['type']) {
    case 'text':
      return ctx.spool(textIn(block['text']), SpooledArtifact)
    case 'image':
    case 'audio':
      return mediaOf(block['data'], block['mimeType'], `${name}-${index}`, trust) ?? lie(ctx, block)
    case 'resource':
      return embedded(block['resource'], `${name}-${index}`, ctx, trust)
    case 'resource_link': {
      const link = { ...block, uri: textIn(block['uri']) }
      return ctx.spool(linkText(link), linkClass(link))
    }
    default:
      return ctx.spool(`[a part of the result of an unknown type: ${said(block['type'])}]`)
  }
}

async function embedded(
  resource: unknown,
  filename: string,
  ctx: ToolContext,
  trust: TrustTier,
): Promise<Media | Artifact> {
  if (!isJsonObject(resource)) return ctx.spool('[a resource that cannot be read]')
  const { uri, text, blob, mimeType } = resource
  if (typeof text === 'string') return ctx.spool(`resource ${said(uri)}\n\n${text}`)
  return mediaOf(blob, mimeType, filename, trust) ?? lie(ctx, resource)
}

const lie = (ctx: ToolContext, { mimeType }: JsonObject) =>
  ctx.spool(`[left out: the server says ${said(mimeType)}, and the bytes are not that]`)

const said = (value: unknown) => shownBriefly(typeof value === 'string' ? value : 'nothing', 500)

/** Media, if the bytes can be read and are what the server says; a picture that lies could reach another decoder. */
function mediaOf(
  data: unknown,
  mimeType: unknown,
  filename: string,
  trustTier: TrustTier,
): Media | undefined {
  if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined
  const type = mimeType.toLowerCase().split(';')[0]?.trim() ?? ''
  const bytes = bytesOf(data)
  if (bytes === undefined || !/^[\w.+-]+\/[\w.+-]+$/.test(type) || !isOfType(bytes, type)) {
    return undefined
  }
  return new Media({
    kind: mediaKind(type),
    mimeType: type,
    filename: filename.replace(/[^\w.-]/g, '_'),
    trustTier,
    modalityHazard: 'extractable-instructions',
    reader: bytesMedia(bytes),
  })
}

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function errorText(blocks: readonly unknown[]): string {
  const texts = blocks.flatMap((block) =>
    isJsonObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  )
  const text = shownBriefly(texts.join('\n'), MAX_ERROR)
  return text === '' ? 'the server says so, and not why' : text
}

/** Refuses structured content that is not what the tool's definition promises. */
async function checkOutput({ output }: Definition, structured: unknown): Promise<void> {
  if (output === undefined) return
  const ran = 'The tool ran, and its result does not fit its own output schema'
  if (structured === undefined) throw new Error(`${ran}: it has no structured content.`)
  if (output.checked === undefined) return
  const { jsonSchemaCheck } = await import('../../tools/json-schema-check.ts')
  const faults = jsonSchemaCheck(output.checked)(structured as JsonObject, MAX_FAULTS)
  if (faults.length === 0) return
  const text = faults.map(({ path, message }) => `\`${path || 'value'}\`: ${message}`).join('; ')
  throw new Error(`${ran}: ${shownBriefly(text, MAX_ERROR)}`)
}
