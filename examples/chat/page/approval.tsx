import { useEffect, useRef, useState } from 'react'

/** A gate as the stream describes it. */
export interface OpenGate {
  readonly id: string
  readonly digest: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

interface DialogProps {
  readonly gate: OpenGate
  readonly onAnswer: (approved: boolean, reason?: string) => void
  /** Gives a sentence if the arguments were refused. */
  readonly onEdited: (args: unknown) => Promise<string | undefined>
}

/** Asks about a call. Its arguments can be changed before it runs. */
export function ApprovalDialog({ gate, onAnswer, onEdited }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [args, setArgs] = useState<Record<string, unknown>>({ ...gate.args })
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const isEdited = JSON.stringify(args) !== JSON.stringify(gate.args)
  const approve = async () => {
    if (isEdited) setProblem(await onEdited(args))
    else onAnswer(true)
  }
  return (
    <dialog ref={dialog} onCancel={(event) => event.preventDefault()}>
      <h2>
        Approve <code>{gate.tool}</code>?
      </h2>
      <p>Nothing has run yet. You can change the arguments first.</p>
      {Object.entries(args).map(([name, value]) => (
        <label key={name}>
          <span>{name}</span>
          <input
            name={name}
            type={typeof value === 'number' ? 'number' : 'text'}
            value={String(value)}
            onChange={({ target }) => {
              const next = typeof value === 'number' ? Number(target.value) : target.value
              setArgs({ ...args, [name]: next })
            }}
          />
        </label>
      ))}
      <label>
        <span>Reason, if you decline</span>
        <input name="reason" value={reason} onChange={({ target }) => setReason(target.value)} />
      </label>
      {problem && <p className="error">{problem}</p>}
      <footer>
        <button type="button" className="deny" onClick={() => onAnswer(false, reason)}>
          Decline
        </button>
        <button type="button" className="approve" onClick={() => void approve()}>
          {isEdited ? 'Approve with changes' : 'Approve'}
        </button>
      </footer>
    </dialog>
  )
}
