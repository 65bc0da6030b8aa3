import { queriesOf, readParameters } from '../../artifacts/query.ts'
import { renderAnswer } from '../../artifacts/render-answer.ts'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from '../../artifacts/spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from '../../artifacts/spooled-table-artifact.ts'
import { visibleText } from '../../text/visible-text.ts'
import { artifactQuery, QUERY_OPTIONS } from '../artifact-query.ts'
import { command } from '../command.ts'
import { EXIT, writeAll } from '../io.ts'
import { writeJson } from '../json-view.ts'
import { STORE_OPTIONS, withStore } from '../store-location.ts'
import { resultReader } from '../stored-artifact.ts'
import { usageError } from '../usage-error.ts'

const CLASSES = {
  text: SpooledArtifact,
  json: SpooledJsonArtifact,
  md: SpooledMarkdownArtifact,
  table: SpooledTableArtifact,
} as const

export const artifact = command({
  name: 'artifact',
  usage: [
    'artifact head|tail|cat ID',
    'artifact grep ID PATTERN',
    'artifact json ID [PATH] [--keys | --length | --fields a,b | --where "field operator value"]',
    'artifact md ID [HEADING] [--code | --links]',
    'artifact table ID [--columns a,b | --count [COLUMN] | --where "column operator value"]',
    'artifact raw ID',
  ],
  about:
    'Queries the output of a call by the call’s id, with the very answers that a model gets. Operators: equals, not_equals, contains, greater, less, exists, missing. `raw` writes the bytes as they are.',
  options: { ...QUERY_OPTIONS, ...STORE_OPTIONS },
  run: ({ values, positionals }, io) => {
    const [form, id, argument, ...more] = positionals
    if (form === undefined || id === undefined) {
      throw usageError(
        '`bobbin artifact` needs a query and the id of a call, such as `bobbin artifact head ID`.',
        'artifact',
      )
    }
    if (more.length > 0)
      throw usageError(
        `\`${more.join(' ')}\` is too much: quote what belongs together.`,
        'artifact',
      )
    const asked = form === 'raw' ? undefined : artifactQuery(form, argument, values)
    return withStore(values, io, { create: false }, async (store) => {
      const { reader } = await resultReader(store, id, readIndex(values.index))
      if (asked === undefined) {
        await writeAll(io, reader.stream())
      } else {
        const subject = new CLASSES[asked.kind](reader)
        const query = queriesOf(subject.constructor).get(asked.query)
        if (query === undefined)
          throw usageError(`\`${form}\` cannot be asked of this.`, 'artifact')
        const { args, issues } = readParameters(query.parameters, asked.args)
        const [issue] = issues
        if (issue !== undefined) throw usageError(`\`${issue.path}\` ${issue.rule}.`, 'artifact')
        const answer = await query.run(subject, args as never, { signal: io.signal })
        if (values.json === true)
          writeJson(io, typeof answer === 'string' ? { text: answer } : answer)
        else io.stdout.write(`${visibleText(renderAnswer(answer))}\n`)
      }
      return EXIT.ok
    })
  },
})

function readIndex(text: string | undefined): number {
  const index = Number(text ?? 0)
  if (Number.isSafeInteger(index) && index >= 0) return index
  throw usageError(`\`--index ${text}\` is no position: count results from 0.`, 'artifact')
}
