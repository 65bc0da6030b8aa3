import type { WireRule } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText, isJson } from '../../../../model/wire/wire-value.ts'
import { URL_SAFE, urlSafeMedia } from '../../inline-media.ts'
import type { RequestView } from './request-view.ts'

const MAX_OUTPUT = 10_485_760

/** What each item must look like. */
export const SHAPE_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'missing-namespace',
    prevents: "Missing namespace for function_call '…'.",
    *check({ items }) {
      const namespaced = new Set(
        items.flatMap(({ item }) =>
          asList(item['tools']).flatMap((tool) => {
            const holder = asObject(tool)
            if (holder?.['type'] !== 'namespace') return []
            return asList(holder['tools']).map((inner) => asText(asObject(inner)?.['name']))
          }),
        ),
      )
      for (const { item, path, type } of items) {
        if (type !== 'function_call' || item['namespace'] !== undefined) continue
        const name = asText(item['name'])
        if (!namespaced.has(name)) continue
        yield { path, message: `\`${name}\` was loaded by tool search and needs its namespace` }
      }
    },
  },
  {
    rule: 'output-schema',
    prevents: 'a 400 for plain text as output of a function that declares output_schema',
    *check({ request, items }) {
      const strict = new Set(
        asList(request['tools']).flatMap((tool) => {
          const declared = asObject(tool)
          return declared?.['output_schema'] === undefined ? [] : [asText(declared['name'])]
        }),
      )
      const calls = items.filter(({ type }) => type === 'function_call')
      const names = new Map(calls.map(({ item }) => [item['call_id'], asText(item['name'])]))
      for (const { item, path, type } of items) {
        const output = asText(item['output'])
        if (type !== 'function_call_output' || output === undefined) continue
        if (!strict.has(names.get(item['call_id'])) || isJson(output)) continue
        yield {
          path: `${path}.output`,
          message: 'must be JSON: the function declares output_schema',
        }
      }
    },
  },
  {
    rule: 'output-length',
    prevents:
      "Invalid 'input[…].output': string too long. Expected a string with maximum length 10485760",
    *check({ items }) {
      for (const { item, path } of items) {
        const length = asText(item['output'])?.length ?? 0
        if (length > MAX_OUTPUT)
          yield { path: `${path}.output`, message: `is ${length} characters` }
      }
    },
  },
  {
    rule: 'base64',
    prevents: "Invalid 'input[…].image_url'. Expected a base64-encoded data URL",
    *check({ items }) {
      for (const { item, path } of items) {
        for (const place of urlSafeMedia(item)) {
          yield { path: `${path}.${place}`, message: URL_SAFE }
        }
      }
    },
  },
  {
    rule: 'function-call-shape',
    prevents: "Invalid type for 'input[…].arguments': expected a string; Invalid 'input[…].name'",
    *check({ items }) {
      for (const { item, path, type } of items) {
        if (type !== 'function_call') continue
        const name = asText(item['name']) ?? ''
        if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
          yield { path: `${path}.name`, message: `\`${name}\` is not a valid tool name` }
        }
        if (asText(item['arguments']) === undefined) {
          yield { path: `${path}.arguments`, message: 'must be JSON text' }
        }
      }
    },
  },
]
