import { useEffect, useRef, useState } from 'react'

/** A gate of kind `input` or `link`, as the stream describes it. */
export interface OpenQuestion {
  readonly id: string
  readonly digest: string
  readonly kind: string
  readonly state: string
  readonly tool?: string
  readonly why: string
  readonly message?: string
  readonly schema?: { readonly properties?: Readonly<Record<string, Field>> }
  readonly url?: string
}

/** The part of a JSON Schema that this form knows. */
interface Field {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly description?: string
}

interface DialogProps {
  readonly gate: OpenQuestion
  /** Gives a sentence if the answer was refused. */
  readonly onAnswer: (answer: object) => Promise<string | undefined>
}

/** Shows what a tool asks: a form for its schema, or a link with the host that it opens. */
export function QuestionDialog({ gate, onAnswer }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const fields = Object.entries(gate.schema?.properties ?? {})
  const [value, setValue] = useState<Record<string, unknown>>({})
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const answer = async (given: object) => setProblem(await onAnswer(given))
  const right = gate.kind === 'link' ? { done: true } : { value }
  return (
    <dialog ref={dialog} onCancel={(event) => event.preventDefault()}>
      <h2>
        <code>{gate.tool}</code> asks
      </h2>
      <p>{gate.message}</p>
      {gate.url !== undefined && (
        <p className="link">
          <a href={gate.url} target="_blank" rel="noopener noreferrer">
            {gate.url}
          </a>{' '}
          opens <b>{new URL(gate.url).host}</b>
        </p>
      )}
      {fields.map(([name, field]) => (
        <label key={name}>
          <span>{field.description ?? name}</span>
          <FieldInput
            name={name}
            field={field}
            onChange={(given) => setValue({ ...value, [name]: given })}
          />
        </label>
      ))}
      <p>{gate.why}</p>
      {problem && <p className="error">{problem}</p>}
      <footer>
        <button type="button" className="deny" onClick={() => void answer({ approve: false })}>
          Decline
        </button>
        <button type="button" className="approve" onClick={() => void answer(right)}>
          {gate.kind === 'link' ? 'Done' : 'Answer'}
        </button>
      </footer>
    </dialog>
  )
}

interface FieldProps {
  readonly name: string
  readonly field: Field
  readonly onChange: (value: unknown) => void
}

function FieldInput({ name, field, onChange }: FieldProps) {
  if (field.enum !== undefined) {
    return (
      <select name={name} defaultValue="" onChange={({ target }) => onChange(target.value)}>
        <option value="" disabled />
        {field.enum.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    )
  }
  if (field.type === 'boolean') {
    return <input name={name} type="checkbox" onChange={({ target }) => onChange(target.checked)} />
  }
  const isNumber = field.type === 'number' || field.type === 'integer'
  return (
    <input
      name={name}
      type={isNumber ? 'number' : 'text'}
      onChange={({ target }) => onChange(isNumber ? Number(target.value) : target.value)}
    />
  )
}
