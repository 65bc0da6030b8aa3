// A long conversation in the SQLite checkpointer of LangGraph: `fill` stores it, `reopen` runs one more turn.
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'

const CALLS_A_TURN = 10
const config = (id) => ({ configurable: { thread_id: id } })

class Answering extends BaseChatModel {
  constructor(onRequest) {
    super({})
    this.onRequest = onRequest
  }

  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate(messages) {
    this.onRequest(messages)
    return { generations: [{ text: 'ok', message: new AIMessage('It ran dry.') }] }
  }
}

function agentOn(path, onRequest = () => {}) {
  const schema = {
    type: 'object',
    properties: { service: { type: 'string' }, lines: { type: 'integer' } },
  }
  const readLog = tool(() => 'nothing', { name: 'read_log', description: 'Reads a log.', schema })
  const checkpointer = SqliteSaver.fromConnString(path)
  const agent = createReactAgent({ llm: new Answering(onRequest), tools: [readLog], checkpointer })
  return { agent, close: () => checkpointer.db.close() }
}

function turnOf(n, resultOf) {
  const messages = [new HumanMessage({ id: `u-${n}`, content: 'Why did checkout fail?' })]
  for (let i = 0; i < CALLS_A_TURN; i++) {
    const [id, at] = [`call-${n}-${i}`, n * CALLS_A_TURN + i]
    const call = {
      type: 'tool_call',
      id,
      name: 'read_log',
      args: { service: 'checkout', lines: i },
    }
    messages.push(
      new AIMessage({ id: `a-${id}`, content: '', tool_calls: [call] }),
      new ToolMessage({ id: `r-${id}`, tool_call_id: id, content: resultOf(at) }),
    )
  }
  messages.push(new AIMessage({ id: `a-${n}`, content: 'It ran dry.' }))
  return messages
}

/** One checkpoint with everything in it. */
export async function fill(path, calls, resultOf) {
  const { agent, close } = agentOn(path)
  const turns = Array.from({ length: calls / CALLS_A_TURN }, (_, n) => turnOf(n, resultOf))
  await agent.updateState(config('c'), { messages: turns.flat() }, 'agent')
  close()
}

export async function reopen([path], meter) {
  let [stop, found] = []
  const { agent, close } = agentOn(path, (messages) => {
    found ??= stop?.(messages.length)
  })
  const ask = (id) => agent.invoke({ messages: [new HumanMessage('And now?')] }, config(id))
  await ask('small')
  stop = meter()
  await ask('c')
  close()
  return found
}
