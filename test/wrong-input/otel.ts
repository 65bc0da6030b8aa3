import { telemetry } from '../../src/otel/index.ts'
import { type WayIn, way } from './values.ts'

const withOptions = (options: object) => telemetry(options)

/** The public names of `bobbin-adk/otel`. */
export const OTEL: Readonly<Record<string, readonly WayIn[]>> = {
  telemetry: [
    way('telemetry', (options) => telemetry(options), 'undefined', 'object', 'date', 'map'),
    way('telemetry({ tracer })', (tracer) => withOptions({ tracer }), 'undefined'),
    way('telemetry({ meter })', (meter) => withOptions({ meter }), 'undefined'),
    way('telemetry({ content })', (content) => withOptions({ content }), 'undefined', 'true'),
  ],
}
