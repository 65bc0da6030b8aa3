import type { JsonObject } from '../../../../core/json/json.ts'

/** A request, or the part of one, with each item and its place. */
export interface RequestView {
  readonly request: JsonObject
  readonly items: readonly {
    readonly item: JsonObject
    readonly path: string
    readonly type: string
  }[]
  /** The provider holds earlier items of this conversation. */
  readonly isStored: boolean
}
