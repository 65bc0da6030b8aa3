import { describe, expect, it } from 'vitest'
import { readDefinition } from './definition.ts'

const TOOL = { name: 't', description: 'A tool.', inputSchema: { type: 'object' } }

describe('the digest of a definition', () => {
  it.each([
    { title: 'T' },
    { description: 'Another.' },
    { inputSchema: { type: 'object', properties: {} } },
    { outputSchema: { type: 'object' } },
    { annotations: { readOnlyHint: true } },
  ])('changes with %j', (change) => {
    expect(readDefinition({ ...TOOL, ...change }).digest).not.toBe(readDefinition(TOOL).digest)
  })

  it('does not depend on the order of members', () => {
    const { name, description, inputSchema } = TOOL
    const other = { inputSchema, description, name }
    expect(readDefinition(other).digest).toBe(readDefinition(TOOL).digest)
  })
})
