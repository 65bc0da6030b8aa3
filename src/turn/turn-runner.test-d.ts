import { expectTypeOf } from 'vitest'
import type { GateRequest } from '../store/gate.ts'
import type { OptionName } from './check-options.ts'
import type { Approve } from './gate-answer.ts'
import type { LogTail } from './log-tail.ts'
import type { TurnStatus } from './outcome.ts'
import type { TurnRunnerOptions } from './runner-options.ts'
import type { ObservedEvents } from './turn-events.ts'

// Every option is checked, and there is no other.
expectTypeOf<keyof TurnRunnerOptions>().toEqualTypeOf<OptionName>()

// Whoever decides may do so at once.
expectTypeOf<(request: GateRequest) => boolean>().toExtend<Approve>()
expectTypeOf<() => { approve: false; decidedBy: string }>().toExtend<Approve>()
expectTypeOf<() => Promise<boolean>>().toExtend<Approve>()
expectTypeOf<() => string>().not.toExtend<Approve>()

// Observers can tell every case apart.
type Told<
  Name extends keyof ObservedEvents,
  Key extends keyof ObservedEvents[Name],
> = ObservedEvents[Name][Key]
expectTypeOf<Told<'gateDecided', 'decision'>>().toEqualTypeOf<'approved' | 'denied' | 'edited'>()
expectTypeOf<Told<'warning', 'code'>>().toEqualTypeOf<
  'IN_DOUBT' | 'LATE_RESULT' | 'MODEL_RETRY' | 'UNDECLARED_EFFECT'
>()
expectTypeOf<'middleware' | 'turn-end' | 'toolCall' | 'warning'>().toExtend<
  Told<'error', 'where'>
>()
expectTypeOf<'error'>().not.toExtend<Told<'error', 'where'>>()

expectTypeOf<LogTail['lastEnd']>().toEqualTypeOf<TurnStatus | undefined>()
