/** The instrumentation scope of all spans and metrics. */
export const SCOPE = 'bobbin-adk'
