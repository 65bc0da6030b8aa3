export type PostgresRow = Readonly<Record<string, unknown>>
export type PostgresValue = string | number | null | Uint8Array

/** Statements on one connection or on any. */
export interface Queries {
  rows(text: string, values: readonly PostgresValue[]): Promise<readonly PostgresRow[]>
  /** Gives how many rows were changed. */
  change(text: string, values: readonly PostgresValue[]): Promise<number>
  /** Several statements at once, without values. */
  script(text: string): Promise<void>
}
