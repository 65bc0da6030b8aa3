import { readdirSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../scripts/ensure-built.mjs'
import { inRoot } from '../scripts/project.mjs'
import { runNode } from '../scripts/run-command.mjs'

const examples = readdirSync(inRoot('examples')).filter((file) => file.endsWith('.mjs'))

describe('the examples', () => {
  beforeAll(async () => {
    const { code, output } = await ensureBuilt()
    if (code !== 0) throw new Error(output)
  }, 60_000)

  it.concurrent.each(examples)('%s runs and checks itself', async (file) => {
    const { code, output } = await runNode(inRoot('examples', file), [])
    expect(output).not.toBe('')
    expect({ code, output }).toMatchObject({ code: 0 })
  })
})
