import { cutBytes } from '../core/error/cut-text.ts'
import { lowerTrust, type TrustTier } from '../core/trust.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { Media } from '../spool/media.ts'
import { type EnvelopeDetails, envelope } from '../text/envelope.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { type CallRendererOptions, type CallRendering, RENDER_LIMITS } from './call-rendering.ts'
import type { ItemForm } from './item-form.ts'
import { artifactParts } from './render-artifacts.ts'
import { mediaParts, mixedParts } from './render-media.ts'
import { NOT_READ, type RenderedPart, unreadText } from './rendered-part.ts'

/** A settled call as the model sees it. */
export interface RenderedCall {
  readonly parts: readonly RenderedPart[]
  /** The lowest tier among the parts. */
  readonly trust: TrustTier
  /** True when a part points to artifacts, which the model then needs tools to read. */
  readonly hasHandle: boolean
}

export type CallRenderer = (call: ToolCall, form?: ItemForm) => Promise<RenderedCall>

/**
 * Renders settled calls, each at most once per form: records are immutable, so what was rendered stays
 * true, and the same record restored later renders to the same bytes.
 */
export function callRenderer(options: CallRendererOptions): CallRenderer {
  const limits = { ...RENDER_LIMITS, ...options.limits }
  const caches = {
    full: new WeakMap<ToolCall, Promise<RenderedCall>>(),
    handle: new WeakMap<ToolCall, Promise<RenderedCall>>(),
  }
  return (call, form = 'full') => {
    const cache = caches[form]
    const known = cache.get(call)
    if (known !== undefined) return known
    const rendering: CallRendering = { call, form, limits, options, wrap: wrapper(call, options) }
    const rendered = inTime(rendering, render(rendering)).catch((error: unknown) => {
      // A spool may be readable again the next time, so a failure is shown but not kept.
      cache.delete(call)
      return unreadable(rendering, error)
    })
    cache.set(call, rendered)
    return rendered
  }
}

function wrapper(call: ToolCall, { key }: CallRendererOptions): CallRendering['wrap'] {
  const role = call.isError ? 'error' : 'result'
  const { tool, settlement, executedBy } = call
  const own: EnvelopeDetails = {
    tool,
    settlement: settlement === 'ok' ? undefined : settlement,
    by: executedBy === 'runner' ? undefined : executedBy,
  }
  return ({ body, index, details, ...part }) => {
    const header = {
      role: part.role ?? role,
      trust: lowerTrust(call.trust, part.trust ?? call.trust),
      id: call.id,
      ...(index !== undefined && { index }),
      details: { ...own, ...details },
    } as const
    return { type: 'text', text: envelope(key, header, body) }
  }
}

async function render(rendering: CallRendering): Promise<RenderedCall> {
  const { call, form, limits, wrap } = rendering
  const { results } = call
  if (Tokenizable.isTokenizable(results)) {
    return { parts: [textPart(rendering, results.text)], trust: call.trust, hasHandle: false }
  }
  const several = Array.isArray(results)
  const list = (several ? results : [results]) as readonly unknown[]
  if (list.every((one) => Media.isMedia(one))) {
    const trust = list.map(({ trustTier }) => trustTier).reduce(lowerTrust, call.trust)
    const parts = mediaParts(list, { several, savesRoom: form === 'handle', limits, wrap })
    return { parts, trust, hasHandle: false }
  }
  const { parts, hasHandle } = await artifactParts(rendering, several)
  const beside = call.media ?? []
  const trust = beside.map(({ media }) => media.trustTier).reduce(lowerTrust, call.trust)
  const shown = { several: true, savesRoom: form === 'handle', limits, wrap }
  return { parts: mixedParts(parts, beside, shown), trust, hasHandle }
}

/** Waits for stored results as long as the turn lasts. */
function inTime(rendering: CallRendering, work: Promise<RenderedCall>): Promise<RenderedCall> {
  const { reading } = rendering.options
  const isRead = !Tokenizable.isTokenizable(rendering.call.results)
  const otherwise = () => unread(rendering, NOT_READ)
  return (isRead && reading?.untilOver?.(work, otherwise)) || work
}

function textPart({ wrap, form, limits }: CallRendering, text: string): RenderedPart {
  const left = `${text.length} characters were left out to save room. Call the tool again if you need them.`
  if (form === 'handle' && left.length < text.length) return wrap({ role: 'handle', body: left })
  const body = cutBytes(text, limits.inlineBytes)
  const isCut = body.length < text.length
  const details = { 'shown-characters': body.length, 'total-characters': text.length }
  return wrap({ body, ...(isCut && { details }) })
}

function unreadable(rendering: CallRendering, error: unknown): RenderedCall {
  return unread(rendering, unreadText(error, rendering.options.reading ?? {}))
}

function unread({ call, wrap }: CallRendering, why: string): RenderedCall {
  const body = `The result ${why}`
  return { parts: [wrap({ role: 'error', body })], trust: call.trust, hasHandle: false }
}
