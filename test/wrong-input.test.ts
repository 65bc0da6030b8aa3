import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../src/core/error/error.ts'
import { publicExports } from './consumer/public-exports.ts'
import { ARTIFACTS } from './wrong-input/artifacts.ts'
import { LEAVES } from './wrong-input/leaves.ts'
import { GUARDS, ROOT } from './wrong-input/root.ts'
import { STORES } from './wrong-input/stores.ts'
import { EVERY_KIND, type WayIn, WRONG } from './wrong-input/values.ts'

const ALL: Readonly<Record<string, readonly WayIn[]>> = {
  ...ROOT,
  ...ARTIFACTS,
  ...STORES,
  ...LEAVES,
}

/** What became of a wrong value: the error's own name where it is none of ours. */
async function outcomeOf(call: WayIn['call'], value: unknown): Promise<string> {
  try {
    const result: unknown = await call(value as never)
    const { close } = (result ?? {}) as { close?: () => unknown }
    if (typeof close === 'function') await close.call(result)
    return 'taken'
  } catch (error) {
    // Whoever wrote the call reads the message, which must be a sentence.
    if (isBobbinError(error) && error.message.endsWith('.')) return 'refused'
    return String(error)
  }
}

describe('what is given to a public function by mistake', () => {
  it('is tried on every public name', () => {
    const names = Object.values(publicExports).flatMap(({ values }) => values)
    expect(Object.keys(ALL).sort()).toEqual([...names].sort())
  })

  it.each([...Object.values(ALL).flat(), ...GUARDS])(
    'is refused with a sentence: $name',
    async (each) => {
      const takes: readonly string[] = each.takes ?? []
      const expected = EVERY_KIND.map((kind) => [kind, takes.includes(kind) ? 'taken' : 'refused'])
      const found: (readonly [string, string])[] = []
      for (const kind of EVERY_KIND) found.push([kind, await outcomeOf(each.call, WRONG[kind])])
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
    },
  )
})
