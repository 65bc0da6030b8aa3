import { INCIDENT, SERVICES } from './facts.ts'

const ALERTS = ['Error rate high', 'Latency high', 'Disk filling', 'Queue growing', 'Out of memory']

/** The handbook of the people on call, one section for every alert of every service. */
export function runbookMarkdown(): string {
  const parts = [
    '# Runbook',
    '',
    'Find the alert, follow its steps in order, write down what you saw.',
  ]
  for (const service of SERVICES) {
    parts.push('', `## ${service}`)
    for (const alert of ALERTS) parts.push('', ...ordinary(service, alert))
    if (service === INCIDENT.service) parts.push('', ...poolSection())
  }
  return `${parts.join('\n')}\n`
}

function ordinary(service: string, alert: string): string[] {
  return [
    `### ${service}: ${alert}`,
    '',
    `1. Look at the dashboard of \`${service}\` for the last hour and compare it with yesterday.`,
    `2. Read the log of \`${service}\` and find the first line that differs from normal.`,
    '3. Ask whether anything was deployed or configured in the half hour before.',
    `4. If nothing helps within 20 minutes, page the owners of \`${service}\`.`,
    '',
    '```sh',
    `ops status ${service} --since 1h`,
    '```',
  ]
}

function poolSection(): string[] {
  return [
    `### ${INCIDENT.alert}`,
    '',
    `The pool towards the payment gateway of \`${INCIDENT.service}\` has no free connection: requests wait and fail.`,
    '',
    '1. Find out since when, on which hosts and in which version it happens.',
    '2. If it began with a deploy, roll that deploy back. Do not restart hosts: they fail again at once.',
    '3. Check the health of the service after the rollback.',
    '4. Tell the author of the deploy. A pool below 32 connections does not carry the load at noon.',
    '',
    '```sh',
    `ops rollback ${INCIDENT.service} --to <version before>`,
    '```',
  ]
}
