export { type FoundryOptions, foundry } from './model.ts'
