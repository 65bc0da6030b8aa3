import { nameText } from '../terminal/call-text.ts'
import type { Io } from '../terminal/io.ts'
import { Screen } from '../terminal/screen.ts'

/** What takes less time is not worth a line. */
const PATIENCE_MS = 300

/** Shows on a terminal which servers are being opened: one that is downloaded first takes a while. */
export async function whileOpening<T>(
  names: readonly string[],
  { stderr, env }: Pick<Io, 'stderr' | 'env'>,
  open: () => Promise<T>,
): Promise<T> {
  const screen = new Screen({ stdout: stderr, env })
  const what = names.length === 1 ? 'MCP server' : 'MCP servers'
  const line = `Opening the ${what} ${names.map(nameText).join(', ')} …`
  const timer = setTimeout(() => screen.live([line]), PATIENCE_MS)
  try {
    return await open()
  } finally {
    clearTimeout(timer)
    screen.clear()
  }
}
