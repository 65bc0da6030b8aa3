import type { UIMessage } from 'ai'
import { useCallback, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'

interface Line {
  readonly id: string
  readonly title: string
  readonly isRunning: boolean
}

const newId = () => `chat-${crypto.randomUUID()}`

function App() {
  const [id, setId] = useState(() => location.hash.slice(1) || newId())
  const [lines, setLines] = useState<readonly Line[]>([])
  const [loaded, setLoaded] = useState<{ id: string; messages: UIMessage[] }>()

  const refresh = useCallback(async () => {
    setLines(await (await fetch('/api/conversations')).json())
  }, [])

  useEffect(() => {
    location.hash = id
    void refresh()
    let isGone = false
    void (async () => {
      const messages = (await (await fetch(`/api/chat/${id}`)).json()) as UIMessage[]
      if (!isGone) setLoaded({ id, messages })
    })()
    return () => {
      isGone = true
    }
  }, [id, refresh])

  const isListed = lines.some((line) => line.id === id)
  const shown = isListed ? lines : [{ id, title: 'New conversation', isRunning: false }, ...lines]
  return (
    <div className="app">
      <nav>
        <h1>Order desk</h1>
        <button type="button" className="new" onClick={() => setId(newId())}>
          + New conversation
        </button>
        <ul>
          {shown.map((line) => (
            <li key={line.id}>
              <button
                type="button"
                className={line.id === id ? 'line is-open' : 'line'}
                onClick={() => setId(line.id)}
              >
                <span>{line.title}</span>
                {line.isRunning && <i className="dot" title="A turn runs" />}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {loaded?.id === id ? (
        <Chat key={id} id={id} messages={loaded.messages} onChange={refresh} />
      ) : (
        <main />
      )}
    </div>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(<App />)
