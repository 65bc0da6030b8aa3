/** One fact that an implementation must satisfy: hand `name` and `run` to any test framework. */
export interface ConformanceCheck {
  readonly name: string
  /** Rejects with an assertion error when the implementation does not conform. */
  readonly run: () => Promise<void>
}
