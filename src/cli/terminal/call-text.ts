import type { ToolCall } from '../../records/tool-call.ts'
import { isArtifact } from '../../spool/artifact.ts'
import { escapeCodePoint, visibleText } from '../../text/visible-text.ts'
import { showBytes, showCount } from './amounts.ts'
import type { Paint } from './paint.ts'

const ARGS_CHARS = 70
const ERROR_CHARS = 300

/** Arguments on one line, short: `pattern=ERROR limit=100`. */
export function briefArgs(args: unknown, nameOf: (callId: string) => string | undefined): string {
  if (typeof args !== 'object' || args === null) return ''
  const parts = Object.entries(args).map(([name, value]) => {
    if (name === 'callId' && typeof value === 'string') return nameOf(value) ?? shortId(value)
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
  })
  return oneLine(parts.join(' '), ARGS_CHARS)
}

/** An id or a name whole and on one line. Files and providers choose them, so line ends are shown as well. */
export const nameText = (name: string) =>
  visibleText(name).replace(/[\t\n\r]/g, (char) => escapeCodePoint(char.charCodeAt(0)))

/** Enough of an id to find it again. */
export const shortId = (id: string) =>
  id.length > 13 ? `${nameText(id.slice(0, 12))}…` : nameText(id)

/** Any text on one line, cut, with control characters shown, so that a terminal does not obey them. */
export function oneLine(text: string, limit: number): string {
  const line = visibleText(text).replace(/\s+/g, ' ').trim()
  return line.length > limit ? `${line.slice(0, limit)}…` : line
}

/** The artifacts that a call gave. */
function artifactsOf(results: unknown) {
  return (Array.isArray(results) ? results : [results]).filter(isArtifact)
}

/** Bytes that the model did not have to read. */
export function bytesKeptOut({ inline, results }: ToolCall): number {
  if (inline) return 0
  return artifactsOf(results).reduce((sum, artifact) => sum + artifact.byteLength(), 0)
}

/** How much a call gave, and where that went, in a few words. */
export function resultText(inline: boolean, results: unknown): string {
  const artifacts = artifactsOf(results)
  if (artifacts.length === 0) return `${showBytes(textOf(results).length)} in the prompt`
  const bytes = artifacts.reduce((sum, artifact) => sum + artifact.byteLength(), 0)
  if (inline) return `${showBytes(bytes)} in the prompt`
  const lines = artifacts.reduce((sum, artifact) => sum + artifact.lineCount(), 0)
  return `${showCount(lines, 'line')}, ${showBytes(bytes)} kept out of the prompt`
}

/** Why a call failed, as the model reads it. */
export const errorText = (results: unknown) => oneLine(textOf(results), ERROR_CHARS)

function textOf(results: unknown): string {
  if (typeof results === 'string') return results
  const text = (results as { readonly text?: unknown } | null)?.text
  return typeof text === 'string' ? text : ''
}

/** A settlement with its sign. */
export function settlementSign(settlement: string, paint: Paint): string {
  if (settlement === 'ok') return paint.green('✓')
  if (settlement === 'failed' || settlement === 'timed-out') return paint.red('✗')
  if (settlement === 'in-doubt') return paint.red('?')
  return settlement === 'edited' ? paint.cyan('~') : paint.yellow('⊘')
}

/** The word for a settlement. A call that a person edited is not a refused one. */
export function settlementWord(settlement: string, paint: Paint): string {
  return settlement === 'edited' ? paint.cyan(settlement) : paint.yellow(settlement)
}

interface Progress {
  readonly done?: unknown
  readonly progress?: unknown
  readonly total?: unknown
  readonly unit?: unknown
  readonly message?: unknown
}

/** The bar of work that says how far it is. */
export function progressText(update: unknown): string {
  if (typeof update === 'string') return oneLine(update, ARGS_CHARS)
  if (typeof update !== 'object' || update === null) return ''
  // MCP servers say `progress` and `message`.
  const { progress, message = '', done = progress, total, unit = message } = update as Progress
  if (typeof done !== 'number') {
    return oneLine((typeof message === 'string' && message) || JSON.stringify(update), ARGS_CHARS)
  }
  const words = oneLine(String(unit), unit === message ? ARGS_CHARS : 20)
  const count = done.toLocaleString('en-US')
  if (typeof total !== 'number' || total <= 0) return `${count} ${words}`.trimEnd()
  const filled = Math.round((Math.max(0, Math.min(done, total)) / total) * 20)
  const bar = '█'.repeat(filled) + '░'.repeat(20 - filled)
  return `${bar} ${count} of ${total.toLocaleString('en-US')} ${words}`
}
