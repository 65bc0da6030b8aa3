export { cutText } from '../core/cut-text.ts'
