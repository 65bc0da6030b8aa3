import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../src/artifacts/spooled-artifact.ts'
import { SpooledTableArtifact } from '../src/artifacts/spooled-table-artifact.ts'
import { type RawToolCall, ToolCall } from '../src/records/tool-call.ts'
import { Media } from '../src/spool/media.ts'
import { bytesMedia } from '../src/spool/media-reader.ts'
import { memorySpool } from '../src/spool/memory-spool.ts'
import { Tokenizable } from '../src/text/tokenizable.ts'
import { Tool } from '../src/tools/tool.ts'
import { ToolRegistry } from '../src/tools/tool-registry.ts'

const spool = memorySpool()

function settled(id: string, results: RawToolCall['results'], more: Partial<RawToolCall> = {}) {
  const at = '2026-01-02T00:00:00.000Z'
  return new ToolCall({
    id,
    tool: 'read_log',
    args: {},
    results,
    isComplete: true,
    isError: false,
    createdAt: at,
    completedAt: at,
    ...more,
  })
}

const callIdsOf = (tool: Tool | undefined) => {
  const properties = tool?.jsonSchema['properties'] as { callId: { enum: string[] } } | undefined
  return properties?.callId.enum
}

describe('forging from settled records', () => {
  it('offers artifacts alone: no media, no text, no answer of an artifact tool', async () => {
    const log = new SpooledArtifact(await spool.write('one\ntwo'))
    const picture = new Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      trustTier: 'third-party',
      modalityHazard: 'opaque-perceptual',
      reader: bytesMedia(new Uint8Array([1])),
    })
    const turnToolCalls = [
      settled('log', log),
      settled('picture', picture),
      settled('pictures', [picture, picture]),
      settled('failed', 'it broke', { isError: true }),
    ]
    const grep = SpooledArtifact.forgeTools({ turnToolCalls }).get('artifact_grep')
    expect(callIdsOf(grep)).toEqual(['log'])

    const answer = await grep?.executor()({ callId: 'log', pattern: 'two' })
    expect(answer).toBe('1: two')
    const asked = settled('ask', new Tokenizable('1: two'), {
      tool: 'artifact_grep',
      fromArtifactTool: true,
    })
    expect(Tokenizable.isTokenizable(asked.results)).toBe(true)
    const next = SpooledArtifact.forgeTools({ turnToolCalls: [...turnToolCalls, asked] })
    expect(callIdsOf(next.get('artifact_grep'))).toEqual(['log'])
  })

  it('restores calls and goes on forging around them', async () => {
    const table = new SpooledTableArtifact(await spool.write('a,b\n1,2'))
    const json: unknown = JSON.parse(JSON.stringify(settled('t', [table, table])))
    const restored = ToolCall.fromJSON(json, { spool })
    const tools = SpooledArtifact.forgeTools({ turnToolCalls: [restored] })
    const rows = tools.get('artifact_table_rows')?.executor()
    expect(await rows?.({ callId: 't', index: 1 })).toBe('columns: a | b\n0: 1 | 2')
  })

  it('replaces the tools of the request before in a registry', async () => {
    const own = new Tool({
      name: 'read_log',
      description: 'Reads a log.',
      inputSchema: { type: 'object' },
      handler: () => 'text',
    })
    const log = new SpooledArtifact(await spool.write('one'))
    const registry = new ToolRegistry([own])
    for (const id of ['first', 'second']) {
      registry.merge(SpooledArtifact.forgeTools({ turnToolCalls: [settled(id, log)] }))
    }
    expect(callIdsOf(registry.get('artifact_head'))).toEqual(['second'])
    expect(registry.pruneEphemeral().names).toEqual(['read_log'])
  })

  it('lets a handler return media but no class resolve to it', () => {
    const options = { name: 'x', description: '', inputSchema: { type: 'object' as const } }
    const make = () =>
      new Tool({ ...options, handler: () => '', artifactConstructor: () => Media as never })
    expect(make).toThrow('artifactConstructor')
  })
})
