import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inRoot } from '../../scripts/project.mjs'

/** One request that the receiver got. */
interface Received {
  readonly path: string
  readonly type: string
  readonly body: string
}

/** A span as OTLP writes it in JSON. */
export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly events?: readonly { readonly name: string }[]
  readonly status: { readonly code?: number; readonly message?: string }
}

export interface Receiver {
  readonly url: string
  all(): Promise<readonly Received[]>
  /** Every span that came, in the order of their starts. */
  spans(): Promise<readonly OtlpSpan[]>
  close(): void
}

/** Starts the receiver in another process. */
export async function openReceiver(...mode: readonly string[]): Promise<Receiver> {
  const program = inRoot('test', 'otel', 'receiver.mjs')
  const child = spawn(process.execPath, [program, ...mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  const all = async () => (await (await fetch(`${url}/received`)).json()) as readonly Received[]
  return {
    url,
    all,
    async spans() {
      const bodies = (await all()).filter(({ path }) => path === '/v1/traces')
      const spans = bodies.flatMap(({ body }) => spansIn(body))
      return spans.sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
    },
    close: () => void child.kill(),
  }
}

function spansIn(body: string): readonly OtlpSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: readonly { scopeSpans: readonly { spans: readonly OtlpSpan[] }[] }[]
  }
  return resourceSpans.flatMap((each) => each.scopeSpans.flatMap(({ spans }) => spans))
}

/** The tree of names below a span; siblings are sorted, as they may start at the same time. */
export function treeOf(spans: readonly OtlpSpan[], parent?: string): readonly unknown[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const isChild = ({ parentSpanId = '' }: OtlpSpan) =>
    parent === undefined ? !ids.has(parentSpanId) : parentSpanId === parent
  return spans
    .filter(isChild)
    .map(({ name, spanId }) => {
      const inside = treeOf(spans, spanId)
      return inside.length === 0 ? name : [name, ...inside]
    })
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** The value of an attribute. */
export function attribute({ attributes }: Pick<OtlpSpan, 'attributes'>, key: string): unknown {
  const found = attributes.find((each) => each.key === key)
  return found && Object.values(found.value)[0]
}
