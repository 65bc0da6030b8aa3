import type { VerifyFault, VerifyReport } from '../store.ts'

const MAX_FAULTS = 1000

/** Collects what a verification finds. */
export interface FaultList {
  add(fault: VerifyFault): void
  report(): Pick<VerifyReport, 'ok' | 'faults' | 'truncated'>
}

export function faultList(): FaultList {
  const faults: VerifyFault[] = []
  let truncated = false
  return {
    add(fault) {
      if (faults.length < MAX_FAULTS) faults.push(fault)
      else truncated = true
    },
    report: () => ({ ok: faults.length === 0, faults, truncated }),
  }
}
