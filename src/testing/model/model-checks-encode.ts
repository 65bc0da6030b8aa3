import assert from 'node:assert/strict'
import type { HistoryItem } from '../../records/history-item.ts'
import {
  codecOf,
  decoded,
  exchangesIn,
  listOf,
  type ModelCheck,
  type ModelCheckContext,
  QUESTION,
} from './model-check.ts'
import { foreignHistory, ID_KINDS } from './model-samples.ts'

/** What must hold when histories are written. */
export const modelEncodeChecks: readonly ModelCheck[] = [
  {
    name: 'gives back what it was given, where a fixture says how',
    run: ({ definition, fixtures }) => {
      for (const fixture of fixtures) {
        if (fixture.echo === undefined) continue
        const part = codecOf(definition).encode(decoded(definition, fixture).items)
        assert.deepEqual(plain(listOf(definition, part)), plain(fixture.echo), fixture.title)
      }
    },
  },
  {
    name: 'gives the same for the same history, and leaves it as it was',
    run: ({ definition, fixtures }) => {
      for (const fixture of fixtures) {
        const { items } = decoded(definition, fixture)
        const before = JSON.stringify(items)
        const first = JSON.stringify(codecOf(definition).encode(items))
        assert.equal(JSON.stringify(codecOf(definition).encode(items)), first, fixture.title)
        assert.equal(JSON.stringify(items), before, fixture.title)
      }
    },
  },
  {
    name: 'breaks none of its own rules with its own histories, whole or cut',
    run: ({ definition, fixtures }) => {
      for (const fixture of fixtures) {
        const { items } = decoded(definition, fixture)
        for (let end = 0; end <= items.length; end++) {
          obeys(definition, items.slice(0, end), `${fixture.title}, cut after ${end} items`)
        }
      }
    },
  },
  {
    name: 'has nothing against requests that its provider took, and names what it refused',
    run: ({ definition, fixtures }) => {
      for (const { accepted, refused, payload, title } of fixtures) {
        if (accepted !== true && refused === undefined) continue
        const rules = codecOf(definition)
          .validate(payload)
          .map(({ rule }) => rule)
        assert.deepEqual([...new Set(rules)], refused === undefined ? [] : [refused], title)
      }
    },
  },
  ...Object.entries(ID_KINDS).map(
    ([kind, idOf]): ModelCheck => ({
      name: `takes a conversation from elsewhere whose ids are ${kind}, and reads it back`,
      run: ({ definition }) => {
        const items = [...foreignHistory(idOf), QUESTION]
        const part = obeys(definition, items, kind)
        const back = codecOf(definition).decode(part).items
        assert.deepEqual(exchangesIn(back), exchangesIn(items))
      },
    }),
  ),
  {
    name: 'continues conversations of the others, and they continue its own',
    run: ({ definition, fixtures, others }) => {
      for (const other of others) {
        const there = codecOf(other).encode([
          ...foreignHistory(ID_KINDS['plain'] as never),
          QUESTION,
        ])
        const { items } = codecOf(other).decode(there)
        const back = codecOf(definition).decode(obeys(definition, items, other.api)).items
        assert.deepEqual(exchangesIn(back), exchangesIn(items), `from ${other.api}`)
        for (const fixture of fixtures) {
          const own = decoded(definition, fixture).items
          obeys(other, [...own, QUESTION], `${fixture.title}, on ${other.api}`)
        }
      }
    },
  },
  {
    name: 'gets its own items back unchanged after the others have continued',
    run: (context) => {
      for (const fixture of context.fixtures) {
        const { items } = decoded(context.definition, fixture)
        // The provider finishes an open call first.
        if (items.some(({ type }) => type === 'openCall')) continue
        if (fixture.echo !== undefined) comesBack(context, items)
      }
    },
  },
]

/** What a protocol sent comes first in the next request, whatever was added elsewhere. */
function comesBack({ definition, others }: ModelCheckContext, own: readonly HistoryItem[]): void {
  const alone = listOf(definition, codecOf(definition).encode(own))
  for (const other of others) {
    const added = codecOf(other).decode(
      codecOf(other).encode(foreignHistory((index) => `away_${index}`)),
    ).items
    const sent = listOf(definition, codecOf(definition).encode([...own, ...added, QUESTION]))
    // The last entry may take in what follows.
    const kept = Math.max(alone.length - 1, 0)
    assert.deepEqual(plain(sent.slice(0, kept)), plain(alone.slice(0, kept)), `after ${other.api}`)
  }
}

function obeys(
  definition: ModelCheckContext['definition'],
  items: readonly HistoryItem[],
  what: string,
): object {
  const part = codecOf(definition).encode(items)
  assert.deepEqual(codecOf(definition).validate(part), [], what)
  return part
}

/** As it goes over the wire. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))
