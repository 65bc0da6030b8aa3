import type { DynamicToolUIPart, UIMessage } from 'ai'

/** One message with its parts in the order in which they came. */
export function Message({ message }: { readonly message: UIMessage }) {
  const { status } = (message.metadata ?? {}) as { readonly status?: string }
  return (
    <article className={message.role}>
      {message.parts.map((part, index) => {
        const key = `${message.id} ${index}`
        if (part.type === 'text') return isVoid(part) ? null : <p key={key}>{part.text}</p>
        if (part.type === 'reasoning') {
          return isVoid(part) ? null : (
            <details key={key} className="reasoning" open={part.state === 'streaming'}>
              <summary>Thinking</summary>
              {part.text}
            </details>
          )
        }
        return part.type === 'dynamic-tool' ? <Call key={key} part={part} /> : null
      })}
      {status === 'aborted' && <p className="note">Stopped.</p>}
    </article>
  )
}

/** Text of a model call that failed and was tried again. */
const isVoid = (part: { readonly providerMetadata?: Record<string, Record<string, unknown>> }) =>
  part.providerMetadata?.['bobbin']?.['isVoid'] === true

const WORDS: Readonly<Record<DynamicToolUIPart['state'], string>> = {
  'input-streaming': 'is being asked for',
  'input-available': 'runs',
  'approval-requested': 'waits for approval',
  'approval-responded': 'was answered',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'declined',
}

interface Progress {
  readonly done: number
  readonly of: number
}

interface Result {
  readonly head?: string
  readonly isWhole?: boolean
  readonly lines?: number
  readonly bytes?: number
  readonly settlement?: string
}

function Call({ part }: { readonly part: DynamicToolUIPart }) {
  const isRunning = part.state === 'output-available' && part.preliminary === true
  const progress = isRunning ? (part.output as Progress) : undefined
  const result =
    !isRunning && part.state === 'output-available' ? (part.output as Result) : undefined
  const isEdited = result?.settlement === 'edited'
  const word = isRunning ? 'runs' : isEdited ? 'changed by you' : WORDS[part.state]
  const input = part.input === undefined ? '' : JSON.stringify(part.input)
  return (
    <section className={`call ${isRunning ? 'is-running' : part.state}`}>
      <header>
        <b>{part.toolName}</b> <code>{input}</code> <span className="state">{word}</span>
      </header>
      {progress && (
        <div className="progress">
          <progress max={progress.of} value={progress.done} /> {progress.done} of {progress.of}
        </div>
      )}
      {result && !isEdited && (
        <details>
          <summary>
            Result{result.isWhole === false && `: ${result.lines} lines, ${result.bytes} bytes`}
          </summary>
          <pre>
            {result.head}
            {result.isWhole === false && '\n…'}
          </pre>
        </details>
      )}
      {part.state === 'output-error' && <p className="error">{part.errorText}</p>}
    </section>
  )
}
