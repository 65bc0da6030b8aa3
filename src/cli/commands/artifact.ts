import { queriesOf, readParameters } from '../../artifacts/query/query.ts'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from '../../artifacts/spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from '../../artifacts/spooled-table-artifact.ts'
import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { checkedBytes } from '../../spool/checked-bytes.ts'
import { artifactQuery, QUERY_OPTIONS } from '../calls/artifact-query.ts'
import { answerText, inCommandWords } from '../calls/artifact-words.ts'
import { resultReader } from '../calls/stored-artifact.ts'
import { command } from '../command/command.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { EXIT, writeAll } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

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
    'Queries the output of a call by the call’s id, with the answers that a model gets. Operators: equals, not_equals, contains, greater, less, exists, missing. `raw` writes the bytes as they are.',
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
        `\`${more.join(' ')}\` is too many words: quote what belongs together.`,
        'artifact',
      )
    const asked = form === 'raw' ? undefined : artifactQuery(form, argument, values)
    return withStore(values, io, { create: false }, async (store) => {
      const { reader } = await resultReader(store, id, readIndex(values.index))
      if (asked === undefined) {
        await writeAll(io, checkedBytes(reader.stream(), reader.digest))
      } else {
        const subject = new CLASSES[asked.kind](reader)
        const query = queriesOf(subject.constructor).get(asked.query)
        if (query === undefined)
          throw usageError(`This result cannot be queried with \`${form}\`.`, 'artifact')
        const { args, issues } = readParameters(query.parameters, asked.args)
        const [issue] = issues
        if (issue !== undefined) throw usageError(`\`${issue.path}\` ${issue.rule}.`, 'artifact')
        const answer = await inOwnWords(async () =>
          query.run(subject, args as never, { signal: io.signal }),
        )
        if (values.json === true)
          writeJson(io, typeof answer === 'string' ? { text: answer } : answer)
        else io.stdout.write(`${answerText(answer)}\n`)
      }
      return EXIT.ok
    })
  },
})

/** Errors of a query name the model's tools; here they name what a person types. */
async function inOwnWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isBobbinError(error)) throw error
    throw new BobbinError(error.code, inCommandWords(error.message), error.data)
  }
}

function readIndex(text: string | undefined): number {
  const index = Number(text ?? 0)
  if (Number.isSafeInteger(index) && index >= 0) return index
  throw usageError(`\`--index ${text}\` is not a position: count results from 0.`, 'artifact')
}
