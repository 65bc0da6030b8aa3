// A log of any size, the same bytes each time: 8.1 million lines in 1 GB, with a few rare lines among them.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rename } from 'node:fs/promises'

export const RARE = 'needle-7f3a9'

const LEVELS = ['INFO', 'DEBUG', 'WARN', 'INFO', 'INFO', 'ERROR', 'INFO']
const WORDS = ['checkout', 'payment', 'cart', 'session', 'inventory', 'gateway', 'retry', 'stock']
const BATCH = 5_000

export async function generate(path, size) {
  const out = createWriteStream(`${path}.part`)
  let seed = 42
  let lines = 0
  for (let bytes = 0; bytes < size; ) {
    let text = ''
    for (let i = 0; i < BATCH; i++, lines++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      text += line(lines, seed)
      if (lines % 900_000 === 899_999)
        text += `${timeOf(lines)} FATAL [core] out of thread: ${RARE} in lane-042\n`
    }
    bytes += text.length
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  await rename(`${path}.part`, path)
  execFileSync('sync')
}

const timeOf = (number) => new Date(1_700_000_000_000 + number * 7).toISOString()

function line(number, seed) {
  return (
    `${timeOf(number)} ${LEVELS[number % 7]} [${WORDS[seed % 8]}-${(seed >> 8) & 63}] ` +
    `request ${seed.toString(16)} took ${(seed >>> 4) % 5000}ms user=${(seed >>> 12) % 100_000} ` +
    `path=/api/v1/${WORDS[(seed >>> 3) & 7]}/${seed % 9999} status=${seed % 97 === 0 ? 500 : 200} ` +
    `zone=eu-${seed & 7} cold\n`
  )
}
