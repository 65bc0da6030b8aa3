import type {
  LoopbackExchange,
  LoopbackRequest,
} from '../../src/testing/loopback/loopback-exchange.ts'

interface ScriptedCall {
  readonly id: string
  readonly tool: string
  readonly args: string
}

const call = (id: number, tool: string, args: object = { n: id }): ScriptedCall => ({
  id: `call_${id}`,
  tool,
  args: JSON.stringify(args),
})

type Script = readonly (readonly ScriptedCall[])[]

/** Twenty calls: alone, side by side, refused, spooled, behind a gate, nested; a response a line. */
const RESPONSES: Script = [
  [call(1, 'look_up')],
  [
    call(2, 'post'),
    call(3, 'put'),
    call(4, 'look_up'),
    call(5, 'charge'),
    call(6, 'put'),
    call(7, 'post'),
  ],
  [call(8, 'transfer')],
  [call(9, 'transfer'), call(10, 'report'), call(11, 'transfer')],
  [call(12, 'no_such_tool'), call(13, 'charge', { wrong: true })],
  [call(14, 'look_up'), call(15, 'refund'), call(16, 'charge')],
  [call(17, 'alone'), call(18, 'delegate', { task: 'Do the nested part.' })],
  [call(19, 'charge'), call(20, 'look_up')],
]

/** What the turn inside call 18 does. */
const NESTED: Script = [[call(181, 'charge')], [call(182, 'put'), call(183, 'post')]]

export const CALLS: readonly ScriptedCall[] = [...RESPONSES, ...NESTED].flat()
export const ANSWER = 'All of it is done.'

interface RequestBody {
  readonly input: readonly { readonly type?: string; readonly call_id?: string }[]
}

/**
 * What the model says depends on the history alone: whoever asks again after a crash hears the same
 * response as the process that died.
 */
export function nextExchange({ body }: LoopbackRequest): LoopbackExchange {
  const { input } = body as RequestBody
  const asked = new Set(
    input.flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : [])),
  )
  const script = JSON.stringify(input[0]).includes('nested') ? NESTED : RESPONSES
  const calls = script.find(([first]) => !asked.has(first?.id))
  return calls === undefined ? streamed([said(ANSWER)]) : streamed(calls.map(requested))
}

const said = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

const requested = ({ id, tool, args }: ScriptedCall) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: tool,
  arguments: args,
  status: 'completed',
})

const streamed = (output: readonly object[]): LoopbackExchange => ({
  events: [
    ...output.map((item, output_index) => ({
      type: 'response.output_item.done',
      output_index,
      item,
    })),
    {
      type: 'response.completed',
      response: { id: 'resp_1', status: 'completed', output: [] },
    },
  ],
})
