import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'

/** The client of the SDK, loaded when it is first needed. */
export async function loadClient() {
  try {
    return await import('@modelcontextprotocol/client')
  } catch (cause) {
    const name = '@modelcontextprotocol/client'
    const message = `The \`${name}\` package was not found: run \`npm install ${name}\`.`
    const reason = thrownText(cause)
    throw new BobbinError('E_MCP_UNAVAILABLE', message, { reason }, { cause })
  }
}
