export { isInstanceOf } from './core/brand.ts'
export { BobbinError, isBobbinError } from './core/error.ts'
