import { DateTime } from 'luxon'
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  bytesMedia,
  type CallRequest,
  checksum,
  Media,
  memorySpool,
  type PlacedMedia,
  SpooledArtifact,
  Tool,
  type ToolCall,
  type ToolOutput,
  TurnRunner,
  type TurnToolCallContent,
} from '../src/index.ts'
import type { ApprovedBy } from '../src/records/approved-by.ts'

const picture = new Media({
  kind: 'image',
  mimeType: 'image/png',
  filename: 'chart.png',
  trustTier: 'first-party',
  modalityHazard: 'opaque-perceptual',
  reader: bytesMedia(new Uint8Array([1, 2, 3])),
})

/** What the stream tells of the calls that `batches` asks for, one batch an iteration. */
async function told(handler: () => ToolOutput | Promise<ToolOutput>, ...batches: CallRequest[][]) {
  const give = new Tool({
    name: 'give',
    description: 'Gives something.',
    inputSchema: { type: 'object' },
    inline: false,
    handler,
  })
  const runner = new TurnRunner({
    tools: [give],
    executor: async ({ iteration }) => {
      const calls = batches[iteration - 1]
      return calls === undefined ? { answer: 'done' } : { calls }
    },
  })
  const contents: TurnToolCallContent[] = []
  runner.on('toolCall', (content) => contents.push(content))
  const { toolCalls } = await runner.run({ message: 'go' })
  return { contents, toolCalls }
}

const call: CallRequest = { id: 'call_1', tool: 'give', args: { n: 1 } }

describe('TurnToolCallContent', () => {
  it('announces the call, then tells its results under the same id', async () => {
    const { contents, toolCalls } = await told(() => 'a log', [call])
    const [asked, settled] = contents
    const [record] = toolCalls
    expect(contents).toHaveLength(2)
    expect(asked).toEqual({
      id: 'call_1',
      tool: 'give',
      args: { n: 1 },
      checksum: checksum('give', { n: 1 }),
      isComplete: false,
      isError: false,
      createdAt: expect.any(DateTime),
      updatedAt: expect.any(DateTime),
    })
    expect(settled).toMatchObject({ ...asked, isComplete: true, updatedAt: record?.updatedAt })
    expect(settled?.results).toBe(record?.results)
    expect(settled?.completedAt?.toMillis()).toBe(record?.completedAt.toMillis())
  })

  it('carries an artifact or several, a media or several', async () => {
    const artifact = new SpooledArtifact(await memorySpool().write('kept elsewhere'))
    const results = async (output: ToolOutput) =>
      (await told(() => output, [call])).contents[1]?.results
    const text = await results('text')
    expect(SpooledArtifact.isSpooledArtifact(text) && (await text.asString())).toBe('text')
    const several = (await results([artifact, artifact])) as readonly SpooledArtifact[]
    expect(several.map(({ digest }) => digest)).toEqual([artifact.digest, artifact.digest])
    expect(await results(picture)).toBe(picture)
    expect(((await results([picture])) as readonly unknown[])[0]).toBe(picture)
  })

  it('carries the raw string of an artifact tool', async () => {
    const grep = { tool: 'artifact_grep', args: { callId: 'call_1', pattern: 'two' } }
    const { contents, toolCalls } = await told(() => 'one\ntwo', [call], [grep])
    expect(contents[3]).toMatchObject({ tool: 'artifact_grep', results: '1: two' })
    expect(toolCalls[1]?.fromArtifactTool).toBe(true)
  })

  it('says that a call failed and why', async () => {
    const fail = () => {
      throw new Error('no such service')
    }
    const { contents } = await told(fail, [call])
    expect(contents[0]).toMatchObject({ isComplete: false, isError: false })
    expect(contents[1]).toMatchObject({ id: 'call_1', isComplete: true, isError: true })
    expect(contents[1]?.results).toContain('no such service')
  })

  it('gives identical calls one checksum, and each an id of its own', async () => {
    const { contents } = await told(() => 'x', [call, call])
    expect(new Set(contents.map((content) => content.checksum)).size).toBe(1)
    expect(new Set(contents.map(({ id }) => id))).toEqual(new Set(['call_1', 'call_1~2']))
  })

  it('says how a call ended once it has', async () => {
    const fail = () => {
      throw new Error('no such service')
    }
    const unknown = { tool: 'gone', args: {} }
    const { contents } = await told(fail, [call, unknown])
    expect(contents.map(({ settlement }) => settlement)).toEqual([
      undefined,
      undefined,
      'refused',
      'failed',
    ])
    const [, settled] = (await told(() => 'x', [call])).contents
    expect(settled?.settlement).toBe('ok')
  })

  it('is typed as the document has it', () => {
    expectTypeOf<TurnToolCallContent>().branded.toEqualTypeOf<
      Readonly<{
        id: string
        tool: string
        inputId?: string
        args: unknown
        checksum: string
        results?: unknown
        media?: readonly PlacedMedia[]
        isComplete: boolean
        isError: boolean
        // Beyond the document.
        settlement?: ToolCall['settlement']
        approvedBy?: ApprovedBy
        createdAt: DateTime
        updatedAt: DateTime
        completedAt?: DateTime
      }>
    >()
  })
})
