import { BobbinError } from '../core/error/error.ts'
import { thrownText } from '../core/error/thrown-text.ts'

/** Loads something when it is first needed. A load that failed is tried again the next time. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return async () => {
    const current = (loading ??= load())
    try {
      return await current
    } catch (error) {
      if (loading === current) loading = undefined
      throw error
    }
  }
}

/** Checks that the API of OpenTelemetry is installed, before a file that imports it is loaded: that load would fail for ever. */
export async function requireApi(
  load: () => Promise<unknown> = () => import('@opentelemetry/api'),
): Promise<void> {
  try {
    await load()
  } catch (cause) {
    const name = '@opentelemetry/api'
    const message = `The \`${name}\` package was not found: run \`npm install ${name}\`.`
    const data = { package: name, reason: thrownText(cause) }
    throw new BobbinError('E_MISSING_PACKAGE', message, data, { cause })
  }
}
