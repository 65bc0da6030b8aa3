import { hostName, INCIDENT, regionOf, SERVICES } from './facts.ts'
import { seededRandom } from './random.ts'

const PER_SERVICE = 420
const CHECKOUT_HOSTS = 240

/** Every host as CSV: where it stands and what it runs. */
export function hostsCsv(): string {
  const random = seededRandom(512)
  let text = 'host,region,service,version,cpu_percent,memory_gb\n'
  for (const service of SERVICES) {
    const count = service === INCIDENT.service ? CHECKOUT_HOSTS : PER_SERVICE
    for (let number = 0; number < count; number++) {
      const cpu = 10 + Math.floor(random() * 70)
      const cells = [hostName(service, number), regionOf(number), service]
      text += `${cells.join(',')},${versionOn(service, number)},${cpu},${2 ** (3 + (number % 3))}\n`
    }
  }
  return text
}

function versionOn(service: string, number: number): string {
  if (service !== INCIDENT.service) return `4.${SERVICES.indexOf(service as 'cart') + 180}.0`
  return regionOf(number) === INCIDENT.badRegion ? INCIDENT.badVersion : INCIDENT.goodVersion
}
