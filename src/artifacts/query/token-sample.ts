import { decodeUtf8, nextBoundary, previousBoundary } from '../../spool/line-text.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import { countTokens, type TokenCount } from '../../text/token-count.ts'

/** Up to here everything is counted. */
const EXACT_BYTES = 1_000_000
const SAMPLES = 16
const SAMPLE_BYTES = 16_384

/** Counts tokens: exactly while the text is small, else on samples spread over it, scaled up. */
export async function spooledTokens(reader: SpoolReader, encoding: string): Promise<TokenCount> {
  const { byteLength } = reader
  if (byteLength <= EXACT_BYTES) {
    return countTokens(decodeUtf8(await reader.read(0, byteLength)), encoding)
  }
  let tokens = 0
  let sampled = 0
  for (let i = 0; i < SAMPLES; i++) {
    const at = Math.floor((i * (byteLength - SAMPLE_BYTES)) / (SAMPLES - 1))
    const bytes = await reader.read(at, at + SAMPLE_BYTES)
    const from = nextBoundary(bytes, 0)
    const sample = bytes.subarray(from, previousBoundary(bytes, bytes.length - 4))
    tokens += (await countTokens(decodeUtf8(sample), encoding)).tokens
    sampled += sample.length
  }
  return { tokens: Math.ceil((tokens * byteLength) / Math.max(1, sampled)), isEstimate: true }
}
