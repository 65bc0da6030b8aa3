import { isBobbinError } from '../../src/core/error/error.ts'
import { type HistoryItem, wire } from '../../src/wire/index.ts'
import type { WireFixture } from './fixture.ts'

const secret = new Uint8Array(32).fill(5)

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let at = 0; at < depth; at++) value = wrap(value)
  return value
}

const JUNK: readonly unknown[] = [
  null,
  '',
  'constructor',
  -1,
  [null],
  'x'.repeat(300),
  nested(20_000, (inner) => [inner]),
  nested(20_000, (inner) => ({ a: inner })),
]

type Place = readonly [holder: object, name: string]

function placesIn(value: unknown): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]): Place[] => [
    [value, name],
    ...placesIn(member),
  ])
}

/** The items, or undefined for an error of ours; any other error is a defect. */
function itemsOf({ api, kind }: WireFixture, value: unknown): readonly HistoryItem[] | undefined {
  const codec = wire(api, { secret })
  try {
    return (kind === 'stream' ? codec.decodeStream(value as unknown[]) : codec.decode(value)).items
  } catch (error) {
    if (isBobbinError(error)) return undefined
    throw error
  }
}

/** What encoding a fixture breaks when any one of its members is replaced by junk. */
export function damageTo(fixture: WireFixture): readonly unknown[] {
  const copy = structuredClone(fixture.kind === 'stream' ? fixture.events : fixture.payload)
  const codec = wire(fixture.api, { secret })
  const broken: unknown[] = []
  for (const [holder, name] of placesIn(copy)) {
    const was = Reflect.get(holder, name)
    for (const junk of JUNK) {
      Reflect.set(holder, name, junk)
      const items = itemsOf(fixture, copy)
      const violations = items === undefined ? [] : codec.validate(codec.encode(items))
      if (violations.length > 0) broken.push({ name, junk: typeof junk, violations })
    }
    Reflect.set(holder, name, was)
  }
  return broken
}
