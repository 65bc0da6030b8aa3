/** A call as a server streams it. `args` is the text of its arguments, sent in two pieces. */
export interface ScriptedCall {
  readonly id?: string | null
  readonly tool: string
  readonly args: string
}

/** How a response ends: in a way that permits its calls, or not. */
export type Ending = 'tools' | 'length' | 'filter' | 'novelty'

/** One protocol's words for what the tests need said. */
export interface WireScript {
  /** The events of a response that asks for calls; strings are sent as they are. */
  calls(calls: readonly ScriptedCall[], ending?: Ending): readonly unknown[]
  answer(text: string): readonly unknown[]
  /** The same two as whole responses. */
  readonly unstreamed: { call(call: ScriptedCall): object; answer(text: string): object }
  /** Which event of a response with one call permits it to run: without that one it never does. */
  readonly terminal: number
  /** The event that holds the arguments, or the rest of them. */
  readonly whole: number
  /** A call whose arguments parse and whose end never came, in protocols that send an end. */
  unended?(call: ScriptedCall): readonly unknown[]
}

/** A text in two pieces. */
export const halves = (text: string) => [
  text.slice(0, text.length >> 1),
  text.slice(text.length >> 1),
]

/** The arguments of two calls whose pieces may be mixed. */
export const INPUTS = ['{"q":"a"}', '{"q":"b"}']
