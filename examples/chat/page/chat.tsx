import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { ApprovalDialog, type OpenGate } from './approval.tsx'
import { Message } from './message.tsx'
import { type OpenQuestion, QuestionDialog } from './question.tsx'

interface ChatProps {
  readonly id: string
  readonly messages: UIMessage[]
  readonly onChange: () => Promise<void>
}

export function Chat({ id, messages: first, onChange }: ChatProps) {
  const chat = useChat({
    id,
    messages: first,
    // A page that is loaded while a turn runs attaches to it.
    resume: true,
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: () => void onChange(),
  })
  const { messages, status, error, sendMessage, addToolApprovalResponse } = chat
  const [text, setText] = useState('')
  const end = useRef<HTMLDivElement>(null)
  const isBusy = status === 'submitted' || status === 'streaming'
  const gate = isBusy ? undefined : openGate(messages)
  const question = isBusy || gate ? undefined : openQuestion(messages)

  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages])
  // The sidebar shows that a turn runs.
  useEffect(() => void onChange(), [status, onChange])

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '' || isBusy) return
    void sendMessage({ text })
    setText('')
  }
  // The turn ends on the server; its stream then ends here.
  const stop = () => fetch(`/api/chat/${id}/stop`, { method: 'POST' })
  const reload = async () =>
    chat.setMessages((await (await fetch(`/api/chat/${id}`)).json()) as UIMessage[])
  // The page takes the answer away at once. If the server refuses, it is shown again.
  const again = async () => {
    await chat.regenerate()
    await reload()
  }
  const decide = async (open: Pick<OpenGate, 'id' | 'digest'>, answer: object) => {
    const body = JSON.stringify({ gate: open.id, digest: open.digest, ...answer })
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`/api/chat/${id}/decide`, { method: 'POST', headers, body })
    if (!reply.ok) return ((await reply.json()) as { message: string }).message
    await chat.resumeStream()
    await reload()
    return undefined
  }

  return (
    <main>
      <div className="messages">
        {messages.length === 0 && (
          <div className="welcome">
            <h2>What can I do for you?</h2>
            <p>Try one of these:</p>
            {[
              'Please refund my broken lamp.',
              'Read all orders of Ann.',
              'Do you have a moon lamp?',
            ].map((idea) => (
              <button type="button" key={idea} onClick={() => void sendMessage({ text: idea })}>
                {idea}
              </button>
            ))}
          </div>
        )}
        {messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
        {!isBusy && !gate && !question && messages.at(-1)?.role === 'assistant' && (
          <button type="button" className="again" onClick={() => void again()}>
            Ask again
          </button>
        )}
        {status === 'submitted' && <p className="waiting">…</p>}
        {error && <p className="error">{error.message}</p>}
        <div ref={end} />
      </div>
      <form onSubmit={submit}>
        <textarea
          value={text}
          placeholder="Write a message"
          rows={2}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey) submit(event)
          }}
        />
        {isBusy ? (
          <button type="button" className="stop" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
      {gate && (
        <ApprovalDialog
          key={gate.id}
          gate={gate}
          onAnswer={(approved, reason) =>
            void addToolApprovalResponse({ id: gate.id, approved, ...(reason && { reason }) })
          }
          onEdited={(args) => decide(gate, { approve: true, args })}
        />
      )}
      {question && (
        <QuestionDialog
          key={question.id}
          gate={question}
          onAnswer={(answer) => decide(question, answer)}
        />
      )}
    </main>
  )
}

/** The first gate that the page still has to answer. */
function openGate(messages: readonly UIMessage[]): OpenGate | undefined {
  const parts = messages.at(-1)?.parts ?? []
  for (const part of parts) {
    if (part.type !== 'dynamic-tool' || part.state !== 'approval-requested') continue
    const gate = parts.find((one) => one.type === 'data-gate' && one.id === part.approval.id)
    if (gate && 'data' in gate) return gate.data as OpenGate
  }
  return undefined
}

/** The first question of a tool that has no answer yet. */
function openQuestion(messages: readonly UIMessage[]): OpenQuestion | undefined {
  for (const part of messages.at(-1)?.parts ?? []) {
    if (part.type !== 'data-gate' || !('data' in part)) continue
    const gate = part.data as OpenQuestion
    if (gate.state === 'pending' && (gate.kind === 'input' || gate.kind === 'link')) return gate
  }
  return undefined
}
