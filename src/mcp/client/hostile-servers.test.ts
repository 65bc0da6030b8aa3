import { describe, expect, it } from 'vitest'
import { HOSTILE } from '../../../test/mcp/hostile-servers.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { shownText } from '../../text/visible-text.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpTools } from './mcp-tools.ts'

const SECRET = 'canary-7d1f'
const MAX_PROMPT = 60_000

/** Every row on protocol 2025-11-25, and on 2026-07-28 over HTTP what does not belong to the older one. */
const rows = (['wire', 'HTTP'] as const).flatMap((over) =>
  HOSTILE.filter(({ isOld }) => over === 'wire' || isOld !== true).map((row) => ({ ...row, over })),
)

/** What a call gave, as text. */
async function shown(results: unknown): Promise<string> {
  const list: readonly unknown[] = Array.isArray(results) ? results : [results]
  const texts = list.map(async (each) => {
    const { text } = each as { readonly text?: string }
    return text ?? (await (each as SpooledArtifact).head(20)).join('\n')
  })
  return (await Promise.all(texts)).join('\n')
}

describe('a hostile server', () => {
  it('is one of more than forty', () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(40)
  })

  it.each(rows)('does no harm over $over: $name', async ({ over, ...row }) => {
    const { server, options = {}, args = {} } = row
    const open = over === 'HTTP' ? server.openHttp : () => server.open()
    server.received.length = 0
    const began = performance.now()
    if (row.refused !== undefined) {
      await expect(mcpTools(open, options)).rejects.toThrow(row.refused)
      expect(performance.now() - began).toBeLessThan(5_000)
      return
    }
    const tools = await mcpTools(open, options)
    if (row.problem !== undefined) {
      const found = tools.problems.map(({ tool, problem }) => `${tool}: ${problem}`).join('\n')
      expect(found).toContain(row.problem)
      expect(shownText(found)).toBe(found)
    }
    if (row.call === undefined && row.gate === undefined) {
      expect([...tools].map(({ name }) => name)).toEqual([])
      await tools.close()
      return
    }
    const model = scriptedModel([[{ call: 't', args }], [{ text: 'Done.' }]])
    const secrets = () => SECRET
    const runner = new TurnRunner({ model, tools: [...tools], policy: 'open', secrets })
    const handle = runner.run({ message: 'Go.' })
    let progress = 0
    for await (const event of handle) if (event.type === 'progress') progress += 1
    const outcome = await handle
    if (row.gate !== undefined) {
      expect(outcome.status).toBe('suspended')
      const message = outcome.gates[0]?.message ?? ''
      expect(message).toContain(row.gate)
      expect(message.length).toBeLessThan(5_000)
    }
    if (row.call !== undefined) {
      expect(outcome.toolCalls[0]?.settlement).toBe(row.call)
      expect(await shown(outcome.toolCalls[0]?.results)).toContain(row.text ?? '')
    }
    const prompt = JSON.stringify(model.requests)
    expect(prompt.length).toBeLessThan(MAX_PROMPT)
    expect(shownText(prompt)).toBe(prompt)
    expect(JSON.stringify(server.received)).not.toContain(SECRET)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(progress).toBeLessThan(100)
    expect(server.count('tools/list')).toBeLessThan(10)
    await tools.close()
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})
