import { brief, cutText } from '../../core/error/cut-text.ts'
import { visibleText } from '../../text/visible-text.ts'

/** A server's text for a prompt or a person: cut, and with every hidden character shown. */
export const shownBriefly = (text: string, chars: number): string =>
  // Shown characters take up to ten times their room; the first cut keeps a megabyte from being replaced.
  brief(visibleText(cutText(text, chars + 1)), chars)

/** The same on one line, for a place where a line end would begin something else. */
export const shownInLine = (text: string, chars: number): string =>
  shownBriefly(text, chars).replace(/[\r\n\t]+/g, ' ')

/** The name of a stranger for a place between backticks. */
export const shownName = (text: string, chars: number): string =>
  shownInLine(text, chars).replaceAll('`', "'")

/** Whether a text has characters that a reader would not see. */
export const hidesSomething = (text: string): boolean => visibleText(text) !== text
