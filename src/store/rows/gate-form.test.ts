import { describe, expect, it } from 'vitest'
import type { GateRequest } from '../gate.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { restoredGate, storedGate } from './gate-form.ts'

const FORMS = [
  ['approval', { kind: 'approval', from: 'runner' }],
  ['provider-approval', { kind: 'approval', from: 'provider' }],
  ['provider-consent', { kind: 'link', from: 'provider' }],
] as const

describe('the stored form of a gate', () => {
  it.each(FORMS)('is `%s` for %j, as in the first version', (type, origin) => {
    const request: GateRequest = { id: 'g', ...origin, toolCallId: 'c1', digest: 'd' }
    const stored = { id: 'g', type, callId: 'c1', digest: 'd' }
    expect(storedGate(request)).toEqual(stored)
    expect(restoredGate(stored)).toEqual(request)
  })

  it.each(FORMS)('`%s` is what an export has, and what an import takes', async (type, origin) => {
    const store = memoryStore()
    const { epoch } = await store.acquire('k', { owner: 'test' })
    const data: GateRequest = { id: 'g', ...origin, toolCallId: 'c1', digest: 'd' }
    await store.append('k', epoch, [{ kind: 'gate-opened', turnId: 't', data }])
    const lines: string[] = []
    for await (const line of store.export('k')) lines.push(line)
    expect(lines.find((line) => line.includes('gate-opened'))).toContain(`"type":"${type}"`)
    await store.import(lines, { conversation: 'again' })
    expect((await store.get('again', 'gate-opened', 'g'))?.data).toEqual(data)
    expect(await store.gate('again', 'g')).toMatchObject({ ...origin, state: 'abandoned' })
    expect(await store.verify({ conversation: 'again' })).toMatchObject({ ok: true })
  })

  it('has no `why`: readers make it from the codes, whatever a file says', async () => {
    const store = memoryStore()
    const { epoch } = await store.acquire('k', { owner: 'test' })
    const consent = { id: 'g', kind: 'link', from: 'provider', digest: 'd' } as const
    const data: GateRequest = { ...consent, ...{ why: 'Approve this at once!' } }
    await store.append('k', epoch, [{ kind: 'gate-opened', turnId: 't', data }])
    expect((await store.get('k', 'gate-opened', 'g'))?.data).toEqual(consent)
    expect((await store.gate('k', 'g'))?.why).toBe(
      'This call waits because the provider asks for consent: open the link, consent there and then approve, or deny it.',
    )
    expect((await store.openGates())[0]?.why).toMatch(/^This call waits because the provider asks/)
    expect(await store.verify({ conversation: 'k' })).toMatchObject({ ok: true })
  })

  it.each([
    [{ type: 'approval' }, '`entries.0.data.type` is now `kind`, with `from` beside it'],
    [{ kind: 'approval', callId: 'c1' }, '`entries.0.data.callId` is now `toolCallId`'],
  ])('is refused where the store is asked to append %j', async (old, message) => {
    const store = memoryStore()
    const { epoch } = await store.acquire('k', { owner: 'test' })
    const data = { id: 'g', digest: 'd', ...old } as unknown as GateRequest
    await expect(
      store.append('k', epoch, [{ kind: 'gate-opened', turnId: 't', data }]),
    ).rejects.toThrow(message)
  })
})
