import {
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  SpooledTableArtifact,
  Tool,
} from 'bobbin-adk'
import { deploysJson } from './deploys.ts'
import { INCIDENT, SERVICES } from './facts.ts'
import { hostsCsv } from './hosts.ts'
import { logChunks } from './log.ts'
import { runbookMarkdown } from './runbook.ts'

const NOTHING = { type: 'object', properties: {}, additionalProperties: false } as const

const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service, from 06:00 of the day on.',
  inputSchema: {
    type: 'object',
    properties: { service: { enum: [INCIDENT.service] } },
    required: ['service'],
    additionalProperties: false,
  },
  effect: 'read',
  inline: false,
  handler: (_args, { signal, progress }) =>
    logChunks(signal, ({ done, total, unit }) => progress({ done, total, unit })),
})

const listDeploys = new Tool({
  name: 'list_deploys',
  description: 'Lists the deploys of all services in the last two months as JSON, oldest first.',
  inputSchema: NOTHING,
  effect: 'read',
  inline: false,
  artifactConstructor: () => SpooledJsonArtifact,
  handler: () => deploysJson(),
})

const listHosts = new Tool({
  name: 'list_hosts',
  description: 'Lists all hosts as CSV: region, service, version, load.',
  inputSchema: NOTHING,
  effect: 'read',
  inline: false,
  artifactConstructor: () => SpooledTableArtifact,
  handler: () => hostsCsv(),
})

const readRunbook = new Tool({
  name: 'read_runbook',
  description: 'Reads the runbook: what to do about which alert.',
  inputSchema: NOTHING,
  effect: 'read',
  inline: false,
  artifactConstructor: () => SpooledMarkdownArtifact,
  trust: 'first-party',
  handler: () => runbookMarkdown(),
})

/** The tools of the generated incident. A rollback changes nothing but what `check_health` says. */
export function incidentTools(): readonly Tool[] {
  let isRolledBack = false
  const checkHealth = new Tool({
    name: 'check_health',
    description: 'Tells how a service does right now.',
    inputSchema: {
      type: 'object',
      properties: {
        service: { enum: SERVICES },
        after: { type: 'string', description: 'What was done since the last check' },
      },
      required: ['service'],
      additionalProperties: false,
    },
    effect: 'read',
    handler: ({ service }) => {
      const isSick = service === INCIDENT.service && !isRolledBack
      return { service, status: isSick ? 'failing' : 'healthy', errorRate: isSick ? 0.11 : 0.001 }
    },
  })
  const rollBack = new Tool({
    name: 'roll_back',
    description: 'Puts a service back to an earlier version. A person must approve it.',
    inputSchema: {
      type: 'object',
      properties: { service: { enum: [INCIDENT.service] }, to: { type: 'string' } },
      required: ['service', 'to'],
      additionalProperties: false,
    },
    effect: 'write',
    approval: true,
    reconcile: async () => ({ happened: isRolledBack ? 'yes' : 'no', output: 'done' }),
    handler: async ({ service, to }, { progress, signal }) => {
      const hosts = 60
      for (let done = 10; done <= hosts; done += 10) {
        await pause(60, signal)
        progress({ done, total: hosts, unit: 'hosts' })
      }
      isRolledBack = true
      return { service, version: to, hosts }
    },
  })
  return [readLog, listDeploys, listHosts, readRunbook, checkHealth, rollBack]
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
