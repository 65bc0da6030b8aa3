import { setTimeout as sleep } from 'node:timers/promises'
import { brief } from '../../core/error/cut-text.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { Telemetry } from '../../turn/events/telemetry.ts'
import type { Options } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'
import { tell } from '../terminal/tell.ts'
import { telemetryAddress, withoutCredentials } from './telemetry-address.ts'

/** The option of every command that can trace its turns. */
export const OTEL_OPTION = {
  otel: {
    type: 'boolean',
    help: 'Send traces and metrics over OTLP/HTTP, without contents; to http://localhost:4318, or where OTEL_EXPORTER_OTLP_ENDPOINT says',
  },
} as const satisfies Options

/** How long the last spans may take to be sent. */
const FLUSH_MS = 5_000
const MAX_REASON = 300

/** Runs work with an exporter if `--otel` is given, and sends what is left when the work has ended. */
export async function withTelemetry<T>(
  values: { readonly otel?: boolean },
  io: Pick<Io, 'env' | 'stderr'>,
  work: (telemetry: Telemetry | undefined) => Promise<T>,
): Promise<T> {
  if (values.otel !== true) return work(undefined)
  const { diag, DiagLogLevel, NodeSDK, resources, telemetry } = await loadSdk()
  // Those that the last flush reports, and those before it: later exports may have worked.
  const problems: { early?: string; last?: string } = {}
  let isLast = false
  const report = (message: string) => void (problems[isLast ? 'last' : 'early'] ??= message)
  const ignore = () => {}
  const logger = { error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore }
  const sdk = withoutLogLevel(
    () =>
      new NodeSDK({
        resource: resources
          .defaultResource()
          .merge(resources.resourceFromAttributes({ 'service.name': 'bobbin' })),
        // Other detectors would send the command line, and with it the question. This one reads the usual variables.
        resourceDetectors: [resources.envDetector],
      }),
  )
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  sdk.start()
  try {
    return await work(telemetry())
  } finally {
    isLast = true
    const sent = sdk.shutdown().catch((error: unknown) => report(thrownText(error)))
    const late = sleep(FLUSH_MS, `no answer within ${FLUSH_MS / 1000} s`, { ref: false })
    const isLate = await Promise.race([sent.then(() => undefined), late])
    const { early, last = isLate } = problems
    const reason = last ?? early
    if (reason !== undefined) {
      const what = last === undefined ? 'some telemetry' : 'telemetry'
      const where = telemetryAddress(io.env)
      const why = brief(withoutCredentials(reasonIn(reason)), MAX_REASON)
      tell(io, `${what} could not be sent to ${where}: ${why}`)
    }
  }
}

/**
 * Makes the SDK without `OTEL_LOG_LEVEL`: it would log to the console while it is made, and standard output is for answers
 * only.
 */
function withoutLogLevel<T>(make: () => T): T {
  const { OTEL_LOG_LEVEL: level } = process.env
  Reflect.deleteProperty(process.env, 'OTEL_LOG_LEVEL')
  try {
    return make()
  } finally {
    if (level !== undefined) process.env['OTEL_LOG_LEVEL'] = level
  }
}

/** The SDK logs errors as JSON with a stack. */
function reasonIn(logged: string): string {
  try {
    const { message, code } = JSON.parse(logged) as { message?: string; code?: string }
    return [message, code].find((text) => typeof text === 'string' && text !== '') ?? logged
  } catch {
    return logged
  }
}

async function loadSdk() {
  try {
    const { diag, DiagLogLevel } = await import('@opentelemetry/api')
    const { NodeSDK, resources } = await import('@opentelemetry/sdk-node')
    const { telemetry } = await import('../../otel/index.ts')
    return { diag, DiagLogLevel, NodeSDK, resources, telemetry }
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw usageError(
      '`--otel` needs the SDK of OpenTelemetry: run `npm install @opentelemetry/api @opentelemetry/sdk-node`.',
    )
  }
}
