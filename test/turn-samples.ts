import { z } from 'zod'
import { Tool } from '../src/tools/tool.ts'
import type { ToolContext, ToolOutput } from '../src/tools/tool-context.ts'
import type { ToolOptions } from '../src/tools/tool-options.ts'

const schema = z.object({ q: z.string().optional() })
type Sample = typeof schema

/** A tool that takes one optional text and does what the test says. */
export function sampleTool(
  name: string,
  handler: (args: { q?: string | undefined }, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>,
  options: Partial<ToolOptions<Sample>> = {},
): Tool {
  return new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: schema,
    effect: 'read',
    handler,
    ...options,
  })
}

/** A promise and the way to settle it by hand. */
export function byHand<T = void>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
