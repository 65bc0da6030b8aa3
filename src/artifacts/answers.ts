export { searchSpool } from '../spool/search/search.ts'
export { filterItems, listKeys, pluckItems, showValue, sliceItems } from './json/json-answers.ts'
export { JsonReader } from './json/json-reader.ts'
export {
  listCodeBlocks,
  listHeadings,
  listLinks,
  showSection,
} from './markdown/markdown-answers.ts'
export { MarkdownBlocks } from './markdown/markdown-blocks.ts'
export { linkDefinition, linkReader, PIECE_CHARS } from './markdown/markdown-links.ts'
export { answerQuery } from './query/answer-query.ts'
export { readTail, readWindow } from './query/line-window.ts'
export { searchLines, showLines, showTail, showWindow } from './query/text-answers.ts'
export { spooledTokens } from './query/token-sample.ts'
export { dialectOf, scanRows } from './table/csv-table.ts'
export { countRows, filterRows, listColumns, sliceRows } from './table/table-answers.ts'
