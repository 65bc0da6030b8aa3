import { elementsAt, textAt } from '../../../core/json/json-scan.ts'

/** The text that each of several responses was parsed from, if `source` is the text of their list, or of the only one. */
export function sourceTexts(count: number, source: string | undefined): readonly string[] {
  if (source === undefined) return []
  if (!source.trimStart().startsWith('[')) return [source]
  const starts = elementsAt(source, 0)
  return starts.length === count ? starts.map((at) => textAt(source, at)) : []
}
