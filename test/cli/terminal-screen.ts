import xterm from '@xterm/headless'

/** What a terminal shows after it got some text. */
export async function screenOf(text: string, columns: number, rows: number): Promise<string> {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 10_000,
    allowProposedApi: true,
  })
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at))
  const shown = lines.map((line) => (line?.translateToString(true) ?? '').trimEnd())
  terminal.dispose()
  return shown.join('\n').trimEnd()
}
