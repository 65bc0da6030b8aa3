import type { JsonValue } from '../../core/json/json.ts'
import { isJsonObject } from './safe-schema.ts'

const KEYWORD = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const TYPES = ['string', 'integer', 'boolean']

/**
 * Refuses a definition that would send arguments as HTTP headers in a way that the protocol forbids: names must be tokens
 * that differ, and only plain values of named properties can be headers.
 */
export function refuseWrongHeaders(schema: JsonValue): void {
  const names = new Set<string>()
  const visit = (part: JsonValue, isProperty: boolean): void => {
    if (Array.isArray(part)) for (const each of part) visit(each as JsonValue, false)
    if (!isJsonObject(part)) return
    if (isProperty && Object.hasOwn(part, KEYWORD)) {
      const name = part[KEYWORD]
      const type = part['type']
      const isGood = typeof name === 'string' && TOKEN.test(name) && isPlain(type)
      if (!isGood || names.has(name.toLowerCase())) {
        throw new Error(`its \`${KEYWORD}\` breaks the rules of the protocol`)
      }
      names.add(name.toLowerCase())
    }
    for (const [key, value] of Object.entries(part)) {
      if (key === 'properties' && isJsonObject(value)) {
        for (const each of Object.values(value)) visit(each, true)
      } else visit(value, false)
    }
  }
  visit(schema, false)
}

const isPlain = (type: JsonValue | undefined): boolean =>
  typeof type === 'string' && TYPES.includes(type)
