import { describe, expect, it } from 'vitest'
import { ArtifactTool } from './artifact-tool.ts'
import { Tool } from './tool.ts'
import { ToolRegistry } from './tool-registry.ts'

const tool = (name: string, extra: object = {}) =>
  new Tool({
    name,
    description: name,
    inputSchema: { type: 'object' },
    handler: () => name,
    ...extra,
  })

const artifactTool = (name: string) =>
  ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    handler: () => name,
    ephemeral: true,
    onCollision: 'replace',
  }) as const

const forged = (name: string) => new ArtifactTool(artifactTool(name))

describe('ToolRegistry', () => {
  it('finds tools by name, in the order they were registered', () => {
    const [a, b] = [tool('a'), tool('b')]
    const registry = new ToolRegistry([a, b])
    expect(registry.get('a')).toBe(a)
    expect([...registry]).toEqual([a, b])
    expect(registry.names).toEqual(['a', 'b'])
    expect(registry.size).toBe(2)
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', ''])(
    'does not know the tool %s',
    (name) => {
      const registry = new ToolRegistry([tool('a')])
      expect(registry.get(name)).toBeUndefined()
      expect(registry.has(name)).toBe(false)
    },
  )

  it('can hold a tool that is named like a property of objects', () => {
    const odd = tool('constructor')
    expect(new ToolRegistry([odd]).get('constructor')).toBe(odd)
  })

  it('refuses a duplicate name unless told otherwise', () => {
    const [first, second] = [tool('a'), tool('a')]
    expect(() => new ToolRegistry([first, second])).toThrow(/registered already/)
    expect(() => new ToolRegistry([first]).register(second, 'overwrite' as 'keep')).toThrow(
      /registered already/,
    )
    expect(new ToolRegistry([first]).register(second, 'replace').get('a')).toBe(second)
    expect(new ToolRegistry([first]).register(second, 'keep').get('a')).toBe(first)
    const replacing = tool('a', { onCollision: 'replace' })
    expect(new ToolRegistry([first, replacing]).get('a')).toBe(replacing)
  })

  it('refuses a tool of the user that is named like a forged one', () => {
    expect(() => new ToolRegistry([tool('artifact_grep')])).toThrow(/reserved/)
    const passing = tool('artifact_grep', { ephemeral: true, onCollision: 'replace' })
    expect(() => new ToolRegistry([passing])).toThrow(/reserved/)
    const lasting = new ArtifactTool({ ...artifactTool('artifact_grep'), ephemeral: false })
    expect(() => new ToolRegistry([lasting])).toThrow(/reserved/)
    expect(new ToolRegistry([forged('artifact_grep')]).size).toBe(1)
  })

  it('drops forged tools when their request is over', () => {
    const registry = new ToolRegistry([tool('a')]).merge([
      forged('artifact_head'),
      forged('artifact_tail'),
    ])
    expect(registry.size).toBe(3)
    expect(registry.pruneEphemeral().names).toEqual(['a'])
  })

  it('lists its tools as they are now, in a list that nobody changes', () => {
    const [a, b] = [tool('a'), tool('b')]
    const registry = new ToolRegistry([a])
    const { list } = registry
    expect(list).toEqual([a])
    expect(registry.list).toBe(list)
    expect(Object.isFrozen(list)).toBe(true)
    registry.register(b)
    expect(registry.list).toEqual([a, b])
    registry.delete('a')
    expect(registry.list).toEqual([b])
    expect(list).toEqual([a])
  })

  it('goes by the policy of the registering rather than by that of the tool', () => {
    const first = tool('a')
    const replacing = tool('a', { onCollision: 'replace' })
    expect(new ToolRegistry([first]).register(replacing, 'keep').get('a')).toBe(first)
    expect(() => new ToolRegistry([first]).merge([replacing], 'throw')).toThrow(/already/)
  })

  it('holds nothing but tools', () => {
    for (const other of [{ name: 'a' }, undefined, null]) {
      expect(() => new ToolRegistry([other as Tool])).toThrow(/must be a Tool/)
    }
  })
})
