import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { ResultParts } from '../../../model/wire/history-builder.ts'
import type { ProviderKey } from '../../../model/wire/provider-data.ts'
import { asList, asObject, asText, jsonText } from '../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../records/history-item.ts'
import { decodeContent, filePart, readableText } from '../wire/content.ts'
import type { Block } from '../wire/wire.ts'

/** What a result block of the provider's tells, readable; the block itself is kept beside it. */
export function serverResult(block: Block, key: ProviderKey): ResultParts {
  const content = block['content']
  if (block['type'] === 'mcp_tool_result') {
    return { isError: block['is_error'] === true, parts: decodeContent(content, key) }
  }
  if (Array.isArray(content)) return { isError: false, parts: content.flatMap(searchResult) }
  const inner = asObject(content)
  if (inner === undefined) return { isError: false, parts: texts(asText(content)) }
  const type = asText(inner['type']) ?? ''
  if (type.endsWith('_tool_result_error')) return { isError: true, parts: errorText(inner) }
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  const returned = inner['return_code']
  return {
    isError: typeof returned === 'number' && returned !== 0,
    parts: reader?.(inner, key) ?? texts(jsonText(inner)),
  }
}

type ResultReader = (content: JsonObject, key: ProviderKey) => ContentPart[]

const code: ResultReader = (content) => [
  ...texts(asText(content['stdout']), asText(content['stderr'])),
  ...asList(content['content']).flatMap((value) => {
    const id = asText(asObject(value)?.['file_id'])
    return id === undefined ? [] : [filePart(id)]
  }),
]

/** By the type of `content`. Failures never get here. */
const READERS: Readonly<Record<string, ResultReader>> = {
  advisor_result: (content) => texts(asText(content['text'])),
  // All that it says is ciphertext, which goes back with the block.
  advisor_redacted_result: () => [],
  bash_code_execution_result: code,
  code_execution_result: code,
  encrypted_code_execution_result: code,
  text_editor_code_execution_create_result: (content) =>
    texts(content['is_file_update'] === true ? 'The file was updated.' : 'The file was created.'),
  text_editor_code_execution_str_replace_result: (content) =>
    texts(asList(content['lines']).map(readableLine).join('\n')),
  text_editor_code_execution_view_result: (content) => texts(asText(content['content'])),
  tool_search_tool_search_result: (content) =>
    texts(
      ...asList(content['tool_references']).map((tool) => asText(asObject(tool)?.['tool_name'])),
    ),
  web_fetch_result: (content, key) => [
    ...texts(asText(content['url'])),
    ...decodeContent(content['content'] === undefined ? [] : [content['content']], key).map(plain),
  ],
}

/** The block is kept whole already; its parts need no copy of their own. */
function plain(part: ContentPart): ContentPart {
  const { providerData: _, ...rest } = part
  return rest
}

function searchResult(value: JsonValue): ContentPart[] {
  const found = asObject(value)
  const lines = [asText(found?.['title']), asText(found?.['url']), asText(found?.['page_age'])]
  const text = lines.filter((line) => line !== undefined && line !== '').join('\n')
  return texts(text === '' ? readableText(value) : text)
}

function readableLine(line: JsonValue): string {
  return typeof line === 'string' ? line : jsonText(line)
}

function errorText(error: JsonObject): ContentPart[] {
  const words = [asText(error['error_code']), asText(error['error_message'])]
  return texts(words.filter((word) => word !== undefined).join(': '))
}

function texts(...values: readonly (string | undefined)[]): ContentPart[] {
  return values.flatMap((text) => (text ? [{ type: 'text', text }] : []))
}
