import type { JsonObject } from '../../../../core/json/json.ts'
import type { WireApi } from '../../../../model/wire/wire-adapter.ts'
import type { ItemReader } from './item-reader.ts'

/** How one service's Responses protocol differs: data, so that two services share the code. */
export interface ResponsesDialect {
  readonly api: WireApi
  readonly provider: string
  readonly readers: Readonly<Record<string, ItemReader>>
  /** A provider's item as it may be sent back, or undefined when the service only ever sends it. */
  toInput(item: JsonObject): JsonObject | undefined
}
