import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Gate } from '../../store/gate.ts'
import type { Io } from '../terminal/io.ts'
import { outputTo } from '../terminal/output.ts'
import { paintFor } from '../terminal/paint.ts'
import { approvalPrompt } from './approval-prompt.ts'

const gateFrom = (from: Gate['from']): Gate => ({
  id: 'g',
  conversation: 'c',
  turnId: 't',
  kind: 'approval',
  from,
  why: 'It waits: decide.',
  tool: 'pay',
  args: { euros: 5 },
  digest: 'd',
  openedAt: 0,
  expiresAt: 1,
  state: 'pending',
})

/** Asks about a gate, types the lines, and gives the decision and the screen. */
async function ask(gate: Gate, ...lines: readonly string[]) {
  let screen = ''
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  stdout.on('data', (piece) => (screen += String(piece)))
  const io: Io = {
    stdout: outputTo(stdout),
    stderr: outputTo(stdout),
    stdin,
    env: { USER: 'ann' },
    cwd: '.',
    signal: new AbortController().signal,
  }
  const deciding = approvalPrompt(io, paintFor(io))(gate)
  for (const line of lines) {
    await new Promise((done) => setTimeout(done, 20))
    stdin.write(`${line}\n`)
  }
  return { decision: await deciding, screen }
}

describe('the approval prompt', () => {
  it('offers other arguments for a call that the runner makes', async () => {
    const { decision, screen } = await ask(gateFrom('runner'), 'y')
    expect(screen).toContain('[e]dit')
    expect(decision).toMatchObject({ approve: true, decidedBy: 'ann' })
  })

  it('takes no other arguments for a call that the provider makes', async () => {
    const { decision, screen } = await ask(gateFrom('provider'), 'e', '{"euros":4}', 'y')
    expect(screen).not.toContain('[e]dit')
    expect(decision).toEqual({ gate: 'g', digest: 'd', decidedBy: 'ann', approve: true })
  })
})
