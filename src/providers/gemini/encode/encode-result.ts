import type { FunctionResponse, FunctionResponsePart, Part } from '@google/genai'
import type { EncodeContext } from '../../../model/wire/encode-groups.ts'
import { partsText } from '../../../model/wire/foreign-text.ts'
import { asObject } from '../../../model/wire/wire-value.ts'
import type { CallItem, ContentPart, MediaPart } from '../../../records/history-item.ts'
import { encodeMedia, mimeTypeOf } from '../wire/content.ts'
import { isOldModel } from '../wire/model-version.ts'
import { API } from '../wire/wire.ts'
import { nameOf, type RequestCalls } from './encode-call.ts'

/** A result: the part that answers the call, and media that have to come in a turn of their own. */
export interface EncodedResult {
  readonly answer: Part
  readonly beside: readonly Part[]
}

/** The answer to a runner's call. */
export function encodeResult(
  call: CallItem,
  context: EncodeContext,
  calls: RequestCalls,
): EncodedResult {
  const { isError, parts, providerData } = context.resultOf(call)
  const own = asObject(context.own(providerData))
  const media = parts.filter((part): part is MediaPart => part.type === 'media')
  const isInside = (part: MediaPart) => isTakenInside(part, context, calls)
  const inside = parts.flatMap((part) => {
    if (part.type === 'media') return isInside(part) ? [encodeInside(part, context)] : []
    return insideOf(part, context) ?? []
  })
  const outside = media.filter((part) => !isInside(part))
  const output = textOf(parts.filter((part) => insideOf(part, context) === undefined))
  const id = calls.idOf(call)
  const functionResponse: FunctionResponse = {
    ...(id !== undefined && { id }),
    name: nameOf(call),
    response: isError ? { error: output } : { output },
    ...asObject(own?.['response']),
    ...(inside.length > 0 && { parts: inside }),
  }
  return {
    answer: { functionResponse, ...asObject(own?.['part']) },
    beside: outside.flatMap((part) => encodeBeside(part, context)),
  }
}

/** The part that stood inside of a response and has no form of its own elsewhere. */
function insideOf(part: ContentPart, context: EncodeContext): FunctionResponsePart | undefined {
  return asObject(asObject(context.own(part.providerData))?.['inside'])
}

/** Text where there is any; media alone are named, because the answer may not be empty. */
function textOf(parts: readonly ContentPart[]): string {
  const texts = parts.filter((part) => part.type === 'text')
  return partsText(texts.length > 0 ? texts : parts)
}

// The types that the provider documents for media inside of a function response.
const INSIDE = /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/

function isTakenInside(part: MediaPart, context: EncodeContext, calls: RequestCalls): boolean {
  if (context.own(part.providerData) !== undefined) return true
  const isKnown = part.source.type === 'base64' && INSIDE.test(mimeTypeOf(part))
  return isKnown && !isOldModel(calls.options.modelFamily)
}

function encodeInside(part: MediaPart, context: EncodeContext): FunctionResponsePart {
  const { source, filename } = part
  const extras = asObject(context.own(part.providerData))
  const named = filename === undefined ? {} : { displayName: filename }
  if (source.type !== 'base64') {
    return { ...encodeMedia(part, true), ...extras }
  }
  return { inlineData: { mimeType: mimeTypeOf(part), data: source.data, ...named }, ...extras }
}

function encodeBeside(part: MediaPart, context: EncodeContext): readonly Part[] {
  const encoded = encodeMedia(part, false)
  if (encoded !== undefined) return [encoded]
  context.leftOut('media', `\`${API}\` cannot take this media; it is named in its place.`)
  return [{ text: partsText([part]) }]
}
