import { expect } from 'vitest'
import { isBobbinError } from '../src/core/error/error.ts'
import type { Model } from '../src/model/model.ts'
import { Media, type RawMedia } from '../src/spool/media.ts'
import { bytesMedia } from '../src/spool/media-reader.ts'
import type { SpoolReader } from '../src/spool/spool-reader.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { RunnerStore } from '../src/store/store.ts'
import { eventRecorder } from '../src/testing/event-recorder.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import type { TurnInput } from '../src/turn/loop/turn-input.ts'
import type { TurnRunnerOptions } from '../src/turn/options/runner-options.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'

/** What a part of an application does in place of its work; it fits wherever a function is asked for. */
export type Misdeed = () => never

/** A value that throws whatever of it is looked at. */
const unreadable = () =>
  new Proxy(Object.create(null) as object, {
    get() {
      throw new Error('not to be read')
    },
  })

const throwing = (thrown: () => unknown) => () => {
  throw thrown()
}

/** Ways to fail, at once and later, also such as no program should have. */
export const FAILURES: readonly (readonly [string, Misdeed])[] = Object.entries({
  'throws an error': throwing(() => new Error('plain')),
  'throws a text': throwing(() => 'a text'),
  'throws null': throwing(() => null),
  'throws what cannot be read': throwing(unreadable),
  'rejects with an error': () => Promise.reject(new Error('plain')),
  'rejects with nothing': () => Promise.reject(),
  'rejects with what cannot be read': () => Promise.reject(unreadable()),
  'gives a thenable that throws': () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    // oxlint-disable-next-line unicorn/no-thenable -- that is the point
    then() {
      throw new Error('plain')
    },
  }),
  'gives a thenable that says both': () => ({
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    // oxlint-disable-next-line unicorn/no-thenable -- that is the point
    then(yes: (value: unknown) => void, no: (error: unknown) => void) {
      no(new Error('plain'))
      yes('yes')
      throw new Error('plain')
    },
  }),
}) as [string, Misdeed][]

/** Ways never to come to an end. */
export const HANGS: readonly (readonly [string, Misdeed])[] = Object.entries({
  'never settles': () => new Promise(() => {}),
  // biome-ignore lint/suspicious/noThenProperty: that is the point
  // oxlint-disable-next-line unicorn/no-thenable -- that is the point
  'gives a thenable that never calls back': () => ({ then() {} }),
}) as [string, Misdeed][]

/** A misdeed that hangs, and the signal that aborts soon after it began, however slow the machine is. */
export function abortedIn(hang: Misdeed): {
  readonly misdeed: Misdeed
  readonly signal: AbortSignal
} {
  const abort = new AbortController()
  const misdeed = (() => {
    setTimeout(() => abort.abort(), 5)
    return hang()
  }) as Misdeed
  return { misdeed, signal: abort.signal }
}

/** A model that calls `t` once and answers. */
export const callsOnce = (): Model => scriptedModel([[{ call: 't', id: 'c1' }], [{ text: 'ok' }]])

export const image = (more: Partial<RawMedia> = {}) =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    trustTier: 'first-party',
    modalityHazard: 'inert',
    reader: bytesMedia(new Uint8Array([1, 2, 3])),
    ...more,
  })

/** A reader of an application's own whose methods of these names do the misdeed. */
export function oddReader(
  reader: SpoolReader,
  names: readonly (keyof SpoolReader)[],
  misdeed: Misdeed,
): SpoolReader {
  const { digest, byteLength, lineCount } = reader
  const own: SpoolReader = {
    digest,
    byteLength,
    lineCount,
    read: (start, end) => reader.read(start, end),
    stream: (range) => reader.stream(range),
    lineStart: (line) => reader.lineStart(line),
    lineAt: (offset) => reader.lineAt(offset),
    verify: () => reader.verify(),
  }
  return { ...own, ...Object.fromEntries(names.map((name) => [name, misdeed])) }
}

const HEARD = ['turnStart', 'iterationEnd', 'toolExecutionStart', 'turnEnd', 'error'] as const

/**
 * Runs a turn and says how it ended: the code it was refused with, or the status, the reason and how its calls
 * settled. Holds it to what holds for every turn: nothing escapes, and its conversation is free again.
 */
export async function endOf(
  options: Partial<TurnRunnerOptions>,
  input: Partial<TurnInput> = {},
  listener?: Misdeed,
): Promise<readonly unknown[]> {
  const escaped: unknown[] = []
  const onEscape = () => escaped.push('something')
  process.on('unhandledRejection', onEscape)
  process.on('uncaughtExceptionMonitor', onEscape)
  const store: RunnerStore = options.store ?? memoryStore()
  const runner = new TurnRunner({ model: callsOnce(), ...options, store } as TurnRunnerOptions)
  if (listener !== undefined) for (const name of HEARD) runner.observe(name, listener)
  if (listener !== undefined) runner.on('toolCall', listener)
  const recorder = eventRecorder(runner)
  const end = await runner.run({ message: 'go', conversation: 'c', ...input }).then(
    ({ status, reason, toolCalls }) => [
      status,
      ...(reason ? [reason.code] : []),
      ...toolCalls.map(({ settlement }) => settlement),
    ],
    (error: unknown) => [isBobbinError(error) ? error.code : 'no error of ours'],
  )
  // What nobody waits for is found out in a later task.
  await new Promise((resolve) => setTimeout(resolve, 2))
  process.off('unhandledRejection', onEscape)
  process.off('uncaughtExceptionMonitor', onEscape)
  expect(escaped).toEqual([])
  const { epoch } = await store.acquire('c', { owner: 'next' })
  await store.release('c', epoch)
  const told = new Map(recorder.of('toolCall').map(({ id, isComplete }) => [id, isComplete]))
  const open = [...told.values()].filter((isComplete) => !isComplete)
  return open.length === 0 ? end : [...end, 'a call was left open']
}
