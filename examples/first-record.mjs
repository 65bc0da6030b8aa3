// What `npm start` runs: an error that says what is wrong and how to get out of it.
import { BobbinError, isBobbinError } from 'bobbin'

const error = new BobbinError(
  'E_TOOL_COLLISION',
  'A tool named `read_log` is registered already: rename one of the two, or pass `onCollision`.',
  { tool: 'read_log' },
)

if (isBobbinError(error, 'E_TOOL_COLLISION')) {
  console.log(error.code)
  console.log(JSON.stringify(error, null, 2))
}
