import type { ToolCall } from '../records/tool-call.ts'

const MAX_SHOWN = 2_000

/**
 * What the model reads beside the result of a call that a person changed, or it takes the result for an
 * answer to what it asked. Made from the record, so that nothing else has to hold the arguments.
 */
export function editNote({ editOf, args }: ToolCall): string | undefined {
  if (editOf === undefined) return undefined
  const json = JSON.stringify(args)
  const shown = json.length > MAX_SHOWN ? '' : ` It ran with ${json}.`
  return `A person changed the arguments before this call ran.${shown} Do not repeat it with the old ones.`
}
