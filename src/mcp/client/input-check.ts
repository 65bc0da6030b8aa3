import type { JsonObject } from '../../core/json/json.ts'
import type { SelfDescribingSchema } from '../../tools/input-schema.ts'
import type { SafeSchema } from './safe-schema.ts'

const MAX_FAULTS = 8

/** The input schema of a server's tool: the model sees it whole, and what can be checked in bounded time is. */
export function checkedInput({ shown, checked }: SafeSchema): SelfDescribingSchema<JsonObject> {
  let check: ReturnType<typeof compiled> | undefined
  return {
    '~standard': {
      version: 1,
      vendor: 'bobbin-mcp',
      jsonSchema: { input: () => ({ ...shown }), output: () => ({ ...shown }) },
      async validate(value) {
        const args = value as JsonObject
        if (checked === undefined) return { value: args }
        check ??= compiled(checked)
        const faults = (await check)(args, MAX_FAULTS)
        if (faults.length === 0) return { value: args }
        return {
          issues: faults.map(({ path, message }) => ({ path: path.split('.'), message })),
        }
      },
    },
  }
}

async function compiled(schema: JsonObject) {
  const { jsonSchemaCheck } = await import('../../tools/json-schema-check.ts')
  return jsonSchemaCheck(schema)
}
