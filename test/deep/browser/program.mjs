// Bundled for a browser and run in one; what it returns must equal what Node gives.

import { BobbinError, isBobbinError } from 'bobbin-adk'
import { hmacSha256, sha256Hex, sha256Stream } from '#hash'

/** @param {readonly string[]} texts */
export function digestsOf(texts) {
  return texts.map((text) => {
    const bytes = new TextEncoder().encode(text)
    const stream = sha256Stream()
    for (let start = 0; start < bytes.length; start += 7)
      stream.update(bytes.slice(start, start + 7))
    return {
      whole: sha256Hex(text),
      bytes: sha256Hex(bytes),
      pieces: stream.digestHex(),
      hmac: [...hmacSha256(new TextEncoder().encode('key'), text)],
    }
  })
}

/** @param {string} tool */
export function errorOf(tool) {
  const error = new BobbinError('E_TOOL_COLLISION', `\`${tool}\` is there already`, { tool })
  return { recognised: isBobbinError(error, 'E_TOOL_COLLISION'), json: JSON.stringify(error) }
}
