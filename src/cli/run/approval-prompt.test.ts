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

  it('shows what a tool asks, and takes an answer or a visit instead of a yes', async () => {
    const base = gateFrom('runner')
    const form = {
      ...base,
      kind: 'input',
      message: 'Which\u202e seat?',
      schema: { type: 'object' },
    }
    const input = await ask(form as Gate, 'y', 'a', '{"seat":1}')
    expect(input.screen).toContain('Which')
    expect(input.screen).not.toContain('\u202e')
    expect(input.screen).toContain('{"type":"object"}')
    expect(input.decision).toEqual({ gate: 'g', digest: 'd', decidedBy: 'ann', value: { seat: 1 } })
    const visit = { ...base, kind: 'link', message: 'Sign in.', url: 'https://a.example/' } as const
    const link = await ask(visit, 'y', 'd')
    expect(link.screen).toContain('https://a.example/')
    const disguised = { ...visit, url: 'https://bank.example@evil.example:8443/' }
    expect((await ask(disguised, 'n')).screen).toContain('opens evil.example:8443\n')
    expect(link.decision).toEqual({ gate: 'g', digest: 'd', decidedBy: 'ann', done: true })
    expect((await ask(visit, 'n')).decision).toMatchObject({ approve: false })
  })

  it('offers a grant, says what it covers, and gives it after a yes', async () => {
    const gate = { ...gateFrom('runner'), args: { to: 'ann', euros: 5 } }
    const bound = { ...gate, context: { definition: 'f' } }
    const { decision, screen } = await ask(bound, 'c', 'cents', 'to', 'y')
    expect(screen).toContain('all [c]onversation')
    expect(screen).not.toContain('[s]ubject')
    expect(screen).toContain(
      'Every later call of pay in this conversation and its sub-agents, with any arguments that have {"to":"ann"}.',
    )
    expect(decision).toMatchObject({
      approve: true,
      grant: { for: 'conversation', args: { to: 'ann' } },
    })
    const tainted = { ...bound, because: 'trust' } as const
    const these = await ask(tainted, 'c', 't', 'y')
    expect(these.screen).toContain('has read text of a stranger')
    expect(these.screen).toContain(
      'also after it has read text of strangers, with exactly these arguments: {"to":"ann","euros":5}.',
    )
    expect(these.decision).toMatchObject({ grant: { for: 'conversation', tainted: true } })
    const none = await ask(tainted, 'c', 'a', 'n', 'b', 'n')
    expect(none.decision).toEqual({ gate: 'g', digest: 'd', decidedBy: 'ann', approve: false })
    expect((await ask(gate, 'y')).screen).not.toContain('[c]onversation')
  })
})
