import { beforeAll, describe, expect, it } from 'vitest'
import { loadAgent } from '../../src/cli/run/agent-file.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { buildPackage, INCIDENT_AGENT } from './incident-agent.ts'

beforeAll(buildPackage, 60_000)

async function incidentRunner() {
  const { agent } = await loadAgent({ agent: INCIDENT_AGENT }, { cwd: '/' })
  const { tools = [], repeat = {}, offline } = agent
  if (offline === undefined) throw new Error('The agent has no rules.')
  return new TurnRunner({ tools, repeat, executor: offline })
}

describe('the incident agent, offline', () => {
  it('finds the cause, is refused its third identical call, and waits for an approval', async () => {
    const runner = await incidentRunner()
    const asked = await runner.run({ message: 'Why did checkout fail at noon?' })
    expect(asked.status).toBe('suspended')
    const [gate] = asked.gates
    expect(gate).toMatchObject({ tool: 'roll_back', args: { service: 'checkout', to: '5.11.3' } })
    const { conversation } = asked
    const decisions = [{ gate: gate?.id ?? '', approve: true, decidedBy: 'test' }]
    const done = await runner.resume({ conversation, decisions })
    expect(done.status).toBe('completed')
    expect(done.text).toBe(
      [
        'checkout fails since 12:00:07 with “payment-gateway: connection pool exhausted”, on the 60 hosts in eu-west that run 5.12.0; every failing host is one of them.',
        'Cause: deploy dep-2391 by m.okafor at 11:58:41: “Lower the payment pool from 64 to 4 connections to save memory”.',
        'It was rolled back to 5.11.3; checkout is healthy now. Next: tell m.okafor.',
      ].join('\n'),
    )
    const settlements = [...asked.toolCalls, ...done.toolCalls].map((call) => call.settlement)
    expect(settlements.filter((each) => each !== 'ok')).toEqual(['refused'])
  })

  it('changes nothing when the rollback is denied', async () => {
    const runner = await incidentRunner()
    const { conversation, gates } = await runner.run({ message: 'Why?' })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: false, decidedBy: 'test' }]
    const done = await runner.resume({ conversation, decisions })
    expect(done.text).toContain('Nothing was changed: the rollback to 5.11.3 was not approved.')
  })

  it('looks for the words of any other question', async () => {
    const outcome = await (await incidentRunner()).run({ message: 'Which hosts run 5.12.0?' })
    expect(outcome.status).toBe('completed')
    expect(outcome.text).toContain('In the deploys, 1 line has “5.12.0”')
    expect(outcome.text).toContain('In the hosts, more than 50 lines have “5.12.0”')
  })

  it('says so when a question holds nothing to look for', async () => {
    const outcome = await (await incidentRunner()).run({ message: 'what is it' })
    expect(outcome.text).toContain('I am a handful of rules, not a language model')
  })
})
