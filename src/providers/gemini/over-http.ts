import type { Content, ContentUnion, GenerateContentParameters, Part } from '@google/genai'
import type { SendContext } from '../../model/wire-model.ts'
import { type KeyConnection, postWithKey } from './key-connection.ts'

/** Members of the client's `config` that stand beside `contents` on the wire. The others are `generationConfig`. */
const BESIDE = new Set([
  'cachedContent',
  'continuationToken',
  'labels',
  'safetySettings',
  'serviceTier',
  'store',
  'toolConfig',
  'tools',
])
/** Members that tell the client what to do. */
const FOR_CLIENT = new Set([
  'abortSignal',
  'automaticContinuation',
  'automaticFunctionCalling',
  'httpOptions',
])

/** A request as the Developer API gets it over HTTP, from the one that its client would be given. */
function httpBody({ contents, config = {} }: GenerateContentParameters): object {
  const { systemInstruction, ...others } = config
  const given = Object.entries(others).filter(([name]) => !FOR_CLIENT.has(name))
  const beside = given.filter(([name]) => BESIDE.has(name))
  const generationConfig = given.filter(([name]) => !BESIDE.has(name))
  return {
    contents,
    ...(systemInstruction !== undefined && { systemInstruction: contentOf(systemInstruction) }),
    ...Object.fromEntries(beside),
    generationConfig: Object.fromEntries(generationConfig),
  }
}

function contentOf(given: ContentUnion): Content {
  if (typeof given === 'object' && 'parts' in given) return given
  const parts = [given].flat() as readonly (Part | string)[]
  return { role: 'user', parts: parts.map((part) => (isText(part) ? { text: part } : part)) }
}

const isText = (part: Part | string) => typeof part === 'string'

/** Sends requests with a key and gives the untouched responses. */
export function senderOf(connection: KeyConnection, streaming: boolean) {
  return (body: GenerateContentParameters, { signal }: SendContext): Promise<Response> => {
    const { model } = body
    const name = /^(models|tunedModels)\//.test(model) ? model : `models/${model}`
    const method = streaming ? 'streamGenerateContent?alt=sse' : 'generateContent'
    return postWithKey(connection, `${name}:${method}`, httpBody(body), signal)
  }
}
