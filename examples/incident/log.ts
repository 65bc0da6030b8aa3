import { hostName, INCIDENT, regionOf } from './facts.ts'
import { pick, seededRandom } from './random.ts'

const CHUNK_LINES = 5_000
const HOSTS = 240

const PATHS = ['/v1/checkout/confirm', '/v1/checkout/quote', '/v1/basket', '/v1/addresses']
const NOISE = [
  'card-check: issuer declined, code 51',
  'address-lookup: upstream timeout after 1500 ms',
  'basket: version conflict, retrying',
]

export interface LogProgress {
  readonly done: number
  readonly total: number
  readonly unit: 'lines'
}

/** The log of the service, piece by piece: never whole in memory, and the same in every run. */
export async function* logChunks(
  signal: AbortSignal,
  progress: (update: LogProgress) => void,
): AsyncGenerator<string> {
  const random = seededRandom(20_260_314)
  const total = INCIDENT.logLines
  for (let done = 0; done < total; ) {
    signal.throwIfAborted()
    let chunk = ''
    const end = Math.min(done + CHUNK_LINES, total)
    for (; done < end; done++) chunk += logLine(done, random)
    progress({ done, total, unit: 'lines' })
    yield chunk
  }
}

function logLine(index: number, random: () => number): string {
  const time = INCIDENT.logStart + index * INCIDENT.lineStep + Math.floor(random() * 60)
  const number = Math.floor(random() * HOSTS)
  const host = hostName(INCIDENT.service, number)
  const request = Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
  const stamp = new Date(time).toISOString()
  const { level, text } = event(time, number, random)
  return `${stamp} ${level} ${host} req=${request} ${text}\n`
}

function event(time: number, number: number, random: () => number) {
  const chance = random()
  const isBroken = time >= INCIDENT.failsFrom && regionOf(number) === INCIDENT.badRegion
  if (isBroken && chance < 0.45) {
    const waiting = 20 + Math.floor(random() * 180)
    const text = `${INCIDENT.fault} (size 4, ${waiting} waiting) version=${INCIDENT.badVersion}`
    return { level: 'ERROR', text }
  }
  if (chance < 0.0008) return { level: 'ERROR', text: pick(random, NOISE) }
  const took = 20 + Math.floor(random() * random() * 400)
  if (took > 320) return { level: 'WARN ', text: `slow request ${pick(random, PATHS)} ${took}ms` }
  return { level: 'INFO ', text: `POST ${pick(random, PATHS)} 200 ${took}ms` }
}
