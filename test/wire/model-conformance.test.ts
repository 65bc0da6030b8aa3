import { describe, it } from 'vitest'
import { modelConformance } from '../../src/testing/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { isThorough } from '../runs.ts'
import { loadFixtures } from './fixture.ts'

const all = loadFixtures().map(([, fixture]) => fixture)

describe.each(providers)('$api', (definition) => {
  const fixtures = all.filter(({ api }) => api === definition.api)
  const cuts = isThorough ? 5_000 : 6
  for (const { name, run } of modelConformance(definition, { fixtures, cuts })) it(name, run)
})
