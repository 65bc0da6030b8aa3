import assert from 'node:assert/strict'
import { isBobbinError } from '../../core/error/error.ts'
import type { WireFixture } from '../../model/provider-definition.ts'
import {
  answered,
  decoded,
  framesOf,
  joined,
  type ModelCheck,
  type ModelCheckContext,
  type Outcome,
  sampled,
  streamsOf,
} from './model-check.ts'

/** What must hold when a response is streamed. */
export const modelStreamChecks: readonly ModelCheck[] = [
  {
    name: 'reads a stream from bytes as from events',
    run: (context) =>
      eachStream(context, async (fixture, _frames, whole) => {
        const { finish } = decoded(context.definition, fixture)
        assert.deepEqual(
          shapeOf(whole),
          finish?.items.map(({ type }) => type),
          fixture.title,
        )
      }),
  },
  {
    name: 'ends every stream with exactly one finish, and gives nothing after it',
    run: (context) =>
      eachStream(context, async ({ title }, _frames, { events }) => {
        const ends = events.flatMap(({ type }, at) => (type === 'finish' ? [at] : []))
        assert.deepEqual(ends, [events.length - 1], title)
      }),
  },
  {
    name: 'gives no call when a stream is cut',
    run: (context) =>
      eachStream(context, async ({ title }, frames, whole) => {
        const bytes = joined(frames)
        for (const end of placesIn(frames, context.cuts)) {
          const cut = await answered(context.definition, [bytes.subarray(0, end)])
          if (cut.finish === undefined) {
            assert.ok(
              isBobbinError(cut.error, 'E_STREAM_BROKEN'),
              `${title}, cut at byte ${end}: ${String(cut.error)}`,
            )
          } else {
            // Only what comes after the last event was lost.
            assert.deepEqual(cut.finish.items, whole.finish?.items, `${title}, cut at byte ${end}`)
          }
        }
      }),
  },
  {
    name: 'gives the same however the bytes are cut into chunks',
    run: (context) =>
      eachStream(context, async ({ title }, frames, whole) => {
        const bytes = joined(frames)
        for (const at of placesIn(frames, context.cuts)) {
          const two = await answered(context.definition, [
            bytes.subarray(0, at),
            bytes.subarray(at),
          ])
          assert.deepEqual(two.finish, whole.finish, `${title}, in two at byte ${at}`)
        }
        const single = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1))
        assert.deepEqual((await answered(context.definition, single)).finish, whole.finish, title)
      }),
  },
  {
    name: 'takes server-sent events with CRLF and comments',
    run: (context) =>
      eachStream(context, async ({ title }, frames, whole) => {
        if ((context.definition.framing ?? 'sse') !== 'sse') return
        const text = new TextDecoder().decode(joined(frames)).replaceAll(/\r?\n/g, '\r\n')
        const noisy = new TextEncoder().encode(`: hello\r\n\r\n${text}`)
        const { finish } = await answered(context.definition, [noisy])
        assert.deepEqual(finish, whole.finish, title)
      }),
  },
  {
    name: 'refuses a stream with bytes that are damaged',
    run: (context) =>
      eachStream(context, async ({ title }, frames) => {
        const bytes = joined(frames)
        bytes[Math.floor(bytes.length / 3)] = 0xff
        const { finish, error } = await answered(context.definition, [bytes])
        assert.equal(finish, undefined, title)
        assert.ok(isBobbinError(error, 'E_STREAM_BROKEN'), `${title}: ${String(error)}`)
      }),
  },
  {
    name: 'passes on an error of the provider at any place in a stream',
    run: (context) =>
      eachStream(context, async ({ title }, frames, whole) => {
        const { loopback } = context.definition
        if (loopback === undefined) return
        const event = loopback.errorEvent(529, 'Overloaded.')
        const [broken] = framesOf(context.definition, {
          events: [event],
        } as Partial<WireFixture> as WireFixture)
        for (const at of sampled([...frames.keys()], context.cuts)) {
          const { finish, error } = await answered(context.definition, [
            ...frames.slice(0, at),
            broken ?? new Uint8Array(),
          ])
          if (finish !== undefined) {
            assert.deepEqual(finish.items, whole.finish?.items, `${title}, an error at event ${at}`)
            continue
          }
          const isOurs = isBobbinError(error) && error.code.startsWith('E_PROVIDER_')
          assert.ok(isOurs, `${title}, an error at event ${at}: ${String(error)}`)
        }
      }),
  },
  {
    name: 'gives no more calls when an event is lost',
    run: (context) =>
      eachStream(context, async ({ title }, frames, whole) => {
        for (const at of sampled([...frames.keys()], context.cuts)) {
          const outcome = await answered(context.definition, frames.toSpliced(at, 1))
          mustBeOurs(outcome, `${title}, without event ${at}`)
          const isFewer = runnerCalls(outcome) <= runnerCalls(whole)
          assert.ok(isFewer, `${title}, without event ${at}: a call too many`)
        }
      }),
  },
  {
    name: 'answers an event that comes twice or too late with items or an error of ours',
    run: (context) =>
      eachStream(context, async ({ title }, frames) => {
        for (const [at, frame] of sampled([...frames.entries()], context.cuts)) {
          const twice = await answered(context.definition, frames.toSpliced(at, 0, frame))
          mustBeOurs(twice, `${title}, with event ${at} twice`)
          const moved = frames.toSpliced(at, 1).toSpliced(at + 1, 0, frame)
          mustBeOurs(await answered(context.definition, moved), `${title}, with event ${at} moved`)
        }
      }),
  },
]

async function eachStream(
  context: ModelCheckContext,
  check: (fixture: WireFixture, frames: readonly Uint8Array[], whole: Outcome) => Promise<void>,
): Promise<void> {
  for (const fixture of streamsOf(context)) {
    const frames = framesOf(context.definition, fixture)
    const whole = await answered(context.definition, frames)
    assert.equal(whole.error, undefined, `${fixture.title}: ${String(whole.error)}`)
    await check(fixture, frames, whole)
  }
}

/** Every byte of a short stream; of a longer one the edges of its events, and places between them. */
function placesIn(frames: readonly Uint8Array[], most: number): readonly number[] {
  const total = frames.reduce((sum, { length }) => sum + length, 0)
  const bytes = Array.from({ length: total }, (_, at) => at)
  if (total <= most) return bytes
  let end = 0
  const edges = frames.map(({ length }) => (end += length)).filter((place) => place < total)
  return [...new Set([0, ...sampled(edges, most / 2), ...sampled(bytes, most / 2), total - 1])]
}

const shapeOf = ({ finish }: Outcome) => finish?.items.map(({ type }) => type)

function mustBeOurs({ error }: Outcome, what: string): void {
  assert.ok(error === undefined || isBobbinError(error), `${what}: ${String(error)}`)
}

const runnerCalls = ({ finish }: Outcome): number =>
  (finish?.items ?? []).filter((item) => item.type === 'call' && item.executedBy === 'runner')
    .length
