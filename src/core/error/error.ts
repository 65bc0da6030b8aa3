import { brandOf, isInstanceOf } from './brand.ts'
import type { ErrorCode, ErrorData } from './error-codes.ts'

/** The one error class: a stable `code`, typed `data`, and a message that names the way out. */
export class BobbinError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code
  readonly data: ErrorData[Code]
  readonly #branded = true

  constructor(code: Code, message: string, data: ErrorData[Code], options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'BobbinError'
    this.code = code
    this.data = data
  }

  /** Answers the guard; see `core/brand.ts`. */
  [brandOf('BobbinError')](): boolean {
    return #branded in this
  }

  toJSON(): { code: Code; message: string; data: ErrorData[Code] } {
    return { code: this.code, message: this.message, data: this.data }
  }
}

/** True when `value` is a `BobbinError`, of one code when `code` is given. */
export function isBobbinError<Code extends ErrorCode = ErrorCode>(
  value: unknown,
  code?: Code,
): value is { [C in Code]: BobbinError<C> }[Code] {
  if (!isInstanceOf<BobbinError>(value, 'BobbinError')) return false
  return code === undefined || value.code === code
}
