import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from './in-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-undo-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const source = new URL('../../src/tools/tool.ts', import.meta.url).href
const AGENT = `import { Tool } from ${JSON.stringify(source)}
const inputSchema = { type: 'object', properties: {} } as const
export const tools = [
  new Tool({ name: 'book', description: 'Books.', inputSchema, effect: 'write', handler: () => 'booked',
    undo: () => 'cancelled' }),
  new Tool({ name: 'look', description: 'Looks.', inputSchema, effect: 'read', handler: () => 'seen' }),
]
export const executor = async (ctx: { turnToolCalls: unknown[] }) =>
  ctx.turnToolCalls[0] ? { answer: 'done' } : { calls: [{ tool: 'book', args: {} }, { tool: 'look', args: {} }] }
`

describe('bobbin undo', () => {
  const at = (...args: string[]) =>
    cli([...args, '--agent', 'agent.ts'], { cwd, env: { USER: 'ann' } })
  let calls: readonly { readonly id: string; readonly tool: string }[] = []
  const idOf = (tool: string) => calls.find((call) => call.tool === tool)?.id ?? ''

  beforeAll(async () => {
    writeFileSync(join(cwd, 'agent.ts'), AGENT)
    await at('run', 'Book it.')
    const { stdout } = await cli(['calls', '--json'], { cwd })
    calls = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as (typeof calls)[number])
  })

  it('undoes a call once', async () => {
    const id = idOf('book')
    const first = await at('undo', id)
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toContain(`undo of ${id}: ok`)
    const second = await at('undo', id)
    expect(second.code).not.toBe(0)
    expect(second.stderr).toMatch(/cannot be undone: it was undone already/)
  })

  it('says why a call cannot be undone', async () => {
    const { stderr, code } = await at('undo', idOf('look'))
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/its tool `look` has no `undo`/)
  })
})
