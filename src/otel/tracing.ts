import type { Context, Tracer } from '@opentelemetry/api'
import { cutText } from '../core/error/cut-text.ts'
import { thrownText } from '../core/error/thrown-text.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { Scrub } from '../turn/events/telemetry.ts'
import { MAX_CONTENT } from './content.ts'
import type { Measure } from './instruments.ts'
import { safely } from './safely.ts'

/** What every span is made with. */
export interface Tracing {
  readonly tracer: Tracer
  readonly measure: Measure
  /** Whether contents leave the process. */
  readonly content: boolean
}

/** The turn that a model call or a call belongs to. */
export interface Owner {
  /** The context in which its span is active. */
  readonly context: Context
  readonly conversation?: string | undefined
  /** The agent that is active. */
  readonly agent?: string | undefined
}

/** A content as text, without secrets and not too long. */
export function contentText(value: JsonValue, scrub: Scrub): string {
  const clean = safely(() => scrub(value)) ?? ''
  const text = typeof clean === 'string' ? clean : JSON.stringify(clean)
  return cutText(text, MAX_CONTENT)
}

/** The message of an error, where contents are wanted. */
export const errorMessage = (
  { content }: Tracing,
  error: unknown,
  scrub: Scrub,
): string | undefined => (content ? contentText(thrownText(error), scrub) : undefined)
