import { SpooledArtifact } from '../../src/artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../src/artifacts/spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from '../../src/artifacts/spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from '../../src/artifacts/spooled-table-artifact.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import { type Kind, type WayIn, way } from './values.ts'

const spool = memorySpool()
const text = new SpooledArtifact(await spool.write('one\ntwo\n'))
const json = new SpooledJsonArtifact(await spool.write('[{ "a": 1 }]'))
const markdown = new SpooledMarkdownArtifact(await spool.write('# x\n'))
const table = new SpooledTableArtifact(await spool.write('a,b\n1,2\n'))

const OPTIONS: readonly Kind[] = ['undefined', 'object', 'date', 'map']
/** A range that is `NaN` is empty. */
const NUMBER: readonly Kind[] = ['undefined', 'number', 'NaN']

/** Reads a list to its end, where what is refused is thrown. */
async function readAll(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list);
}

const forging = (Class: typeof SpooledArtifact): readonly WayIn[] => [
  way(`new ${Class.name}`, (reader) => new Class(reader)),
  way(`${Class.name}.forgeTools`, (context) => Class.forgeTools(context)),
]

/** Every way into artifacts, by class. */
export const ARTIFACTS: Readonly<Record<string, readonly WayIn[]>> = {
  SpooledArtifact: [
    ...forging(SpooledArtifact),
    way('artifact.head', (count) => text.head(count), ...NUMBER),
    way('artifact.tail', (count) => text.tail(count), ...NUMBER),
    way('artifact.cat', (start) => text.cat(start), ...NUMBER),
    way('artifact.cat(start, end)', (end) => text.cat(0, end), ...NUMBER),
    way('artifact.line', (number) => text.line(number), 'number', 'NaN'),
    way('artifact.lines', (options) => readAll(text.lines(options)), ...OPTIONS),
    way('artifact.grep', (pattern) => text.grep(pattern), 'text'),
    way('artifact.grep(pattern, options)', (options) => text.grep('x', options), ...OPTIONS),
    way(
      'artifact.estimateTokens',
      (encoding) => text.estimateTokens(encoding),
      ...(['undefined', 'text', 'empty text'] as const),
    ),
    way('artifact.asString', (limit) => text.asString(limit), 'undefined'),
  ],
  SpooledJsonArtifact: [
    ...forging(SpooledJsonArtifact),
    way('json.type', (path) => json.type(path), 'undefined', 'empty text'),
    way('json.type(path, options)', (options) => json.type('', options), ...OPTIONS),
    way('json.keys', (path) => json.keys(path), 'undefined', 'empty text'),
    way('json.length', (path) => json.length(path), 'undefined', 'empty text'),
    way('json.get', (path) => json.get(path), 'undefined', 'empty text'),
    way('json.slice', (start) => json.slice(start, 1), 'number', 'NaN'),
    way('json.slice(start, end)', (end) => json.slice(0, end), 'number', 'NaN'),
    way('json.pluck', (field) => json.pluck(field), 'text', 'empty text'),
    way('json.pluck(field, range)', (range) => json.pluck('a', range), ...OPTIONS),
    way('json.filter', (condition) => json.filter(condition)),
    way('json.filter({ operator })', (operator) => json.filter({ field: 'a', operator })),
    way(
      'json.filter({ field })',
      (field) => json.filter({ field, operator: 'exists' }),
      ...(['text', 'empty text'] as const),
    ),
  ],
  SpooledMarkdownArtifact: [
    ...forging(SpooledMarkdownArtifact),
    way('markdown.headings', (scan) => markdown.headings(scan), ...OPTIONS),
    way('markdown.codeBlocks', (scan) => markdown.codeBlocks(scan), ...OPTIONS),
    way('markdown.links', (scan) => markdown.links(scan), ...OPTIONS),
    way('markdown.section', (heading) => markdown.section(heading), 'text'),
  ],
  SpooledTableArtifact: [
    ...forging(SpooledTableArtifact),
    way('table.rows', (start) => table.rows(start), ...NUMBER),
    way('table.rowCount', (options) => table.rowCount(options), ...OPTIONS),
    way('table.filter', (condition) => table.filter(condition)),
    way('table.filter({ column })', (column) => table.filter({ column, operator: 'exists' })),
    way('table.filter({ operator })', (operator) => table.filter({ column: 'a', operator })),
    way('table.countBy', (column) => table.countBy(column)),
  ],
}
