import { INCIDENT, REGIONS, SERVICES } from './facts.ts'
import { pick, seededRandom } from './random.ts'

const COUNT = 2_400
const AUTHORS = ['a.lindqvist', 'j.baptiste', 'k.tanaka', 'm.okafor', 'r.delgado', 's.novak']
const WORK = ['Tidy', 'Speed up', 'Rewrite', 'Log more of', 'Test', 'Document', 'Cache']
const PARTS = ['the request parser', 'retries', 'the price cache', 'metrics', 'the health check']

const OTHERS = SERVICES.filter((name) => name !== INCIDENT.service)

/** Two months of deploy records as one JSON array; the one that matters is near its end. */
export function deploysJson(): string {
  const random = seededRandom(2_391)
  const versions = new Map<string, number>()
  const first = Date.parse(INCIDENT.deployedAt) - COUNT * 36e5 * 0.6
  const records = Array.from({ length: COUNT }, (_, index) => {
    const service: string = OTHERS[index % OTHERS.length] ?? ''
    const build = (versions.get(service) ?? 0) + 1
    versions.set(service, build)
    const at = new Date(first + index * 36e5 * 0.6).toISOString()
    return {
      id: `dep-${index + 1}`,
      service,
      version: `4.${build}.0`,
      previous: `4.${build - 1}.0`,
      author: pick(random, AUTHORS),
      finishedAt: at,
      regions: [...REGIONS] as readonly string[],
      changes: changes(random, 3 + Math.floor(random() * 5)),
    }
  })
  const place = Number(INCIDENT.deployId.slice('dep-'.length)) - 1
  records[place] = badDeploy(random)
  return JSON.stringify(records, null, 1)
}

function badDeploy(random: () => number) {
  return {
    id: INCIDENT.deployId,
    service: INCIDENT.service,
    version: INCIDENT.badVersion,
    previous: INCIDENT.goodVersion,
    author: INCIDENT.author,
    finishedAt: INCIDENT.deployedAt,
    regions: [INCIDENT.badRegion],
    changes: [...changes(random, 2), { commit: '9c41e07', message: INCIDENT.change }],
  }
}

function changes(random: () => number, count: number) {
  return Array.from({ length: count }, () => ({
    commit: Math.floor(random() * 2 ** 28)
      .toString(16)
      .padStart(7, '0'),
    message: `${pick(random, WORK)} ${pick(random, PARTS)}`,
  }))
}
