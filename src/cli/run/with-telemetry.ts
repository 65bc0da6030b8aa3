import { setTimeout as sleep } from 'node:timers/promises'
import { brief } from '../../core/error/cut-text.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { Telemetry } from '../../turn/events/telemetry.ts'
import type { Options } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'
import { tell } from '../terminal/tell.ts'

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
  const { env } = io
  const { diag, DiagLogLevel, NodeSDK, resources, telemetry } = await loadSdk()
  let problem: string | undefined
  const ignore = () => {}
  const logger = {
    error: (message: string) => (problem ??= message),
    warn: ignore,
    info: ignore,
    debug: ignore,
    verbose: ignore,
  }
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const sdk = new NodeSDK({
    // Other detectors would send the command line, and with it the question.
    resourceDetectors: [resources.envDetector],
    ...(env['OTEL_SERVICE_NAME'] === undefined && { serviceName: 'bobbin' }),
  })
  sdk.start()
  try {
    return await work(telemetry())
  } finally {
    const sent = sdk.shutdown().catch((error: unknown) => (problem ??= thrownText(error)))
    const late = sleep(FLUSH_MS, `no answer within ${FLUSH_MS / 1000} s`, { ref: false })
    const isLate = await Promise.race([sent.then(() => undefined), late])
    const reason = problem === undefined ? isLate : reasonIn(problem)
    if (reason !== undefined) {
      const where = env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? 'http://localhost:4318'
      tell(io, `telemetry could not be sent to ${where}: ${brief(reason, MAX_REASON)}`)
    }
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
