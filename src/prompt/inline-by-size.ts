import { BobbinError } from '../core/error/error.ts'
import { type Artifact, isArtifact } from '../spool/artifact.ts'
import type { ProducedResult } from '../tools/tool-options.ts'

/** How large a result may be and still be shown inline. */
export type InlineLimit = { readonly bytes: number } | { readonly tokens: number }

/** English text; other scripts need fewer bytes, so that their limit is a little generous. */
const BYTES_PER_TOKEN = 4

/**
 * Decides by size whether a result is shown inline or as a handle. All artifacts of a call count
 * together; media have no handle and are always shown. Tokens are estimated from bytes, so that
 * deciding reads nothing.
 */
export function inlineBySize(limit: InlineLimit): (result: ProducedResult) => boolean {
  const bytes = bytesOf(limit)
  return (result) => {
    const parts: readonly unknown[] = Array.isArray(result) ? result : [result]
    const artifacts = parts.filter((part): part is Artifact => isArtifact(part))
    return artifacts.reduce((sum, artifact) => sum + artifact.byteLength(), 0) <= bytes
  }
}

function bytesOf(limit: InlineLimit): number {
  const { bytes, tokens = Number.NaN } = (limit ?? {}) as { bytes?: number; tokens?: number }
  const most = bytes ?? tokens * BYTES_PER_TOKEN
  if (typeof most === 'number' && most >= 0) return most
  const rule = 'must be { bytes } or { tokens }, a number of 0 or more'
  const message = `The limit of \`inlineBySize\` ${rule}.`
  throw new BobbinError('E_INVALID_INITIAL_TOOL_VALUE', message, { path: 'inline', rule })
}
