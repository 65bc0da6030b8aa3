import { runNode } from '../../scripts/run-command.mjs'

/** Prints the bytes that a finished turn of three calls leaves for a full collection. */
const PROGRAM = `
import { Tool, TurnRunner } from 'bobbin-adk'

const tool = new Tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  effect: 'read',
  handler: () => 'nothing',
})
const turn = async () => {
  const executor = async ({ iteration }) =>
    iteration > 3 ? { answer: 'done' } : { calls: [{ tool: 'look', args: { iteration } }] }
  await new TurnRunner({ executor, tools: [tool] }).run({ message: 'look' })
}
const afterYoung = () => {
  // Twice: what has just been made is moved first, and given up next.
  gc({ type: 'minor' })
  gc({ type: 'minor' })
  return process.memoryUsage().heapUsed
}
// Compiled code comes and goes; the least of several samples has none.
for (let i = 0; i < 150; i++) await turn()
let least = Infinity
for (let sample = 0; sample < 5; sample++) {
  gc()
  const before = afterYoung()
  for (let i = 0; i < 40; i++) await turn()
  least = Math.min(least, (afterYoung() - before) / 40)
}
console.log(Math.round(least))
`

/** How many bytes of a turn that is over only a full collection frees. */
export async function bytesLeftByTurn(folder: string): Promise<number> {
  const { output } = await runNode('--expose-gc', ['--input-type=module', '--eval', PROGRAM], {
    cwd: folder,
  })
  return Number(output)
}
