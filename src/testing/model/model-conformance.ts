import { requireOptions, wrongInput } from '../../core/error/wrong-input.ts'
import { checkDefinition } from '../../model/define-provider.ts'
import type { ProviderDefinition, WireFixture } from '../../model/provider-definition.ts'
import { providers } from '../../wire/providers.ts'
import type { ConformanceCheck } from '../conformance-check.ts'
import { modelDecodeChecks } from './model-checks-decode.ts'
import { modelEncodeChecks } from './model-checks-encode.ts'
import { modelRequestChecks } from './model-checks-request.ts'
import { modelStreamChecks } from './model-checks-stream.ts'

/** What a protocol is tested with. */
export interface ModelConformanceOptions {
  /** Payloads of the protocol; those of the definition when absent. */
  readonly fixtures?: readonly WireFixture[]
  /** Protocols that its conversations move to and come from; all of this package when absent. */
  readonly others?: readonly ProviderDefinition[]
  /** At how many places each stream is cut, about; 200 when absent. Short streams are cut at every byte. */
  readonly cuts?: number
}

/**
 * What every protocol must do, as a list of checks: `for (const { name, run } of modelConformance(definition)) it(name,
 * run)` works in Vitest, Jest and `node:test` alike.
 */
export function modelConformance(
  definition: ProviderDefinition,
  options: ModelConformanceOptions = {},
): readonly ConformanceCheck[] {
  checkDefinition('modelConformance', definition)
  requireOptions('modelConformance', options, ['fixtures', 'others', 'cuts'])
  const { fixtures = definition.fixtures ?? [], others = providers, cuts = 200 } = options
  if (!Array.isArray(fixtures)) throw wrongInput('modelConformance', 'fixtures', 'must be a list')
  if (!Array.isArray(others)) throw wrongInput('modelConformance', 'others', 'must be a list')
  for (const other of others) checkDefinition('modelConformance', other)
  if (typeof cuts !== 'number' || !(cuts >= 1)) {
    throw wrongInput('modelConformance', 'cuts', 'must be a number, 1 or more')
  }
  const context = { definition, fixtures, others, cuts }
  const checks = [
    ...modelDecodeChecks,
    ...modelEncodeChecks,
    ...modelStreamChecks,
    ...modelRequestChecks,
  ]
  return checks.map(({ name, run }) => ({ name, run: async () => run(context) }))
}
