import { describe, expect, it } from 'vitest'
import { askArtifact as ask } from '../../test/ask-artifact.ts'
import { isBobbinError } from '../core/error/error.ts'
import type { ErrorCode } from '../core/error/error-codes.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { ByteRange, SpoolReader } from '../spool/spool-reader.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import { SpooledJsonArtifact } from './spooled-json-artifact.ts'

const spool = memorySpool()
const json = async (text: string) => new SpooledJsonArtifact(await spool.write(text))
const users = Array.from({ length: 1_000 }, (_, i) => ({
  id: i,
  name: `user ${i}`,
  address: { city: i % 3 === 0 ? 'Ulm' : 'Bonn' },
}))
const document = { version: 2, users, 'a.b': { '': 1 }, empty: [], nothing: null }

const code = (expected: ErrorCode) => (error: unknown) => isBobbinError(error, expected)

describe('SpooledJsonArtifact', () => {
  it('answers for small and large items alike, in one walk', async () => {
    const items = Array.from({ length: 40 }, (_, i) => ({
      pad: 'é'.repeat(i % 3 === 0 ? 40_000 : 3),
      id: i,
      [`own ${i}`]: { list: [i, 'x'] },
    }))
    for (const text of [JSON.stringify(items), items.map((i) => JSON.stringify(i)).join('\n')]) {
      const artifact = await json(text)
      expect(await artifact.slice(0, 99)).toEqual(items)
      expect(await artifact.pluck('id')).toEqual(items.map(({ id }) => id))
      expect(await artifact.keys()).toHaveLength(42)
      const odd = { field: 'id', operator: 'greater', value: 35 } as const
      expect(await artifact.filter(odd)).toEqual(items.slice(36))
      const seen: string[] = []
      let cursor: string | undefined
      for (let pages = 0; pages < 50; pages++) {
        const answer = await ask(artifact, 'json_pluck', { fields: ['id'], limit: 7, cursor })
        seen.push(...answer.split('\n').filter((row) => /^\d+:/.test(row)))
        cursor = /cursor "([^"]+)"/.exec(answer)?.[1]
        if (cursor === undefined) break
      }
      expect(seen).toEqual(items.map(({ id }) => `${id}: ${id}`))
    }
  })

  for (const space of [undefined, 2]) {
    it(`answers for a document ${space ? 'in many lines' : 'in one line'}`, async () => {
      const artifact = await json(JSON.stringify(document, null, space))
      expect(await artifact.type()).toBe('object')
      expect(await artifact.type('nothing')).toBe('null')
      expect(await artifact.keys()).toEqual(Object.keys(document))
      expect(await artifact.keys('users')).toEqual(['id', 'name', 'address'])
      expect(await artifact.length()).toBe(5)
      expect(await artifact.length('users')).toBe(1_000)
      expect(await artifact.length('empty')).toBe(0)
      expect(await artifact.get('users[999].address.city')).toBe('Ulm')
      expect(await artifact.get('/users/1/name')).toBe('user 1')
      expect(await artifact.get('["a.b"]')).toEqual({ '': 1 })
      expect(await artifact.get('$')).toEqual(document)
      expect(await artifact.slice(10, 12, { path: 'users' })).toEqual(users.slice(10, 12))
      expect(await artifact.pluck('address.city', { path: 'users', end: 4 })).toEqual(
        users.slice(0, 4).map(({ address }) => address.city),
      )
      const inUlm = { field: 'address.city', operator: 'equals', value: 'Ulm' } as const
      expect(await artifact.filter(inUlm, { path: 'users' })).toEqual(
        users.filter(({ address }) => address.city === 'Ulm'),
      )
    })
  }

  it('reads NDJSON as a sequence', async () => {
    const artifact = await json(`${users.map((user) => JSON.stringify(user)).join('\n')}\n`)
    expect(await artifact.type()).toBe('lines')
    expect(await artifact.length()).toBe(1_000)
    expect(await artifact.keys()).toEqual(['id', 'name', 'address'])
    expect(await artifact.get('[7].name')).toBe('user 7')
    expect(await artifact.slice(998, 2_000)).toEqual(users.slice(998))
    expect(await artifact.preview()).toBe(
      'NDJSON; its first 20 items have the keys: id, name, address',
    )
  })

  it('reads scalars, a byte order mark and space around', async () => {
    expect(await (await json('\ufeff 12 \n')).get()).toBe(12)
    expect(await (await json('"x"')).type()).toBe('string')
    expect(await (await json('1\n2\n')).slice(0, 9)).toEqual([1, 2])
  })

  it('takes keys such as `__proto__` as data and resolves own properties alone', async () => {
    const artifact = await json('[{"__proto__":{"admin":true},"a":{}},{"a":1}]')
    expect(await artifact.keys()).toEqual(['__proto__', 'a'])
    expect(await artifact.get('[0].__proto__.admin')).toBe(true)
    expect(await artifact.pluck('__proto__.admin')).toEqual([true, null])
    expect(await artifact.pluck('a.toString')).toEqual([null, null])
    expect(await artifact.pluck('constructor')).toEqual([null, null])
    await expect(artifact.get('[1].constructor')).rejects.toSatisfy(code('E_INVALID_PATH'))
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  it('says where a path ends and what is there', async () => {
    const artifact = await json(JSON.stringify(document))
    await expect(artifact.get('users[0].mail')).rejects.toThrow(
      'The path `$.users[0].mail` leads nowhere: $.users[0] is an object with the keys id, name, address.',
    )
    await expect(artifact.get('users[5000]')).rejects.toThrow('$.users is an array of 1000')
    await expect(artifact.length('version')).rejects.toThrow('a number has no items')
    await expect((await json('{"\\ud800":2}')).get('a')).rejects.toThrow(
      '$ is an object with the keys \ufffd.',
    )
    await expect(artifact.get('a[')).rejects.toSatisfy(code('E_INVALID_PATH'))
  })

  it('tells where JSON is broken, and answers what lies before', async () => {
    const artifact = await json('[{"a":1},{"a":2},{"a" 3}]')
    expect(await artifact.get('[1].a')).toBe(2)
    await expect(artifact.length()).rejects.toThrow('byte 22 is `3`, where `:` should be')
    await expect((await json('[1] x')).length()).rejects.toThrow('nothing more should be')
    await expect((await json('hello')).type()).rejects.toSatisfy(code('E_ARTIFACT_MALFORMED'))
    await expect((await json('')).type()).rejects.toSatisfy(code('E_ARTIFACT_MALFORMED'))
    await expect((await json('['.repeat(100_000))).length()).rejects.toThrow('nested deeper')
  })

  it.each(['{"a":1} x', '{"a":1}{"b":2}', '{\n"a":1\n}\n{\n"b":2\n}', '[1]]', '1,', '"x"\u0000'])(
    'gives no document that something stands behind: %j',
    async (text) => {
      const artifact = await json(text)
      await expect(artifact.get()).rejects.toSatisfy(code('E_ARTIFACT_MALFORMED'))
      expect(await ask(artifact, 'json_get')).toMatch(/^Error: This is not valid JSON/)
    },
  )

  it('gives NDJSON with blank lines around its values, whole or not at all', async () => {
    const artifact = await json('\n \r\n{"a":1}\r\n\n\t\n[2]\n\n3')
    expect(await artifact.get()).toEqual([{ a: 1 }, [2], 3])
    expect(await artifact.length()).toBe(3)
    expect(await artifact.pluck('a')).toEqual([1, null, null])
    expect(await (await json('1\n'.repeat(12_000))).get()).toHaveLength(12_000)
    const large = await json('"0123456789"\n'.repeat(100_000))
    await expect(large.get()).rejects.toSatisfy(code('E_LIMIT_EXCEEDED'))
    expect(await large.slice(99_999, 1e9)).toEqual(['0123456789'])
  })

  it('tells which line of NDJSON is broken, and gives those before', async () => {
    const artifact = await json('{"a":1}\n{"a":2}\n{"a" 3}\n{"a":4}\n')
    expect(await artifact.slice(0, 2)).toEqual([{ a: 1 }, { a: 2 }])
    await expect(artifact.length()).rejects.toThrow('byte 21 is `3`')
  })

  it('gives nothing for a range that is no number, or behind the end', async () => {
    const artifact = await json('[1,2,3]')
    expect(await artifact.slice(0, Number.NaN)).toEqual([])
    expect(await artifact.slice(Number.NaN, 3)).toEqual([])
    expect(await artifact.slice(1e300, 1e301)).toEqual([])
    expect(await artifact.slice(2, 1)).toEqual([])
    expect(await artifact.slice(-5, Number.POSITIVE_INFINITY)).toEqual([1, 2, 3])
  })

  it('takes the first of equal keys by path, and counts them all', async () => {
    const artifact = await json('{"a":1,"a":{"b":2},"a":3}')
    expect(await artifact.get('a')).toBe(1)
    expect(await artifact.length()).toBe(3)
    expect(await artifact.keys()).toEqual(['a'])
    expect(await artifact.slice(0, 9)).toEqual([1, { b: 2 }, 3])
  })

  it('stops looking for a path when its signal aborts', async () => {
    const { reader, read } = counted(await spool.write(`[${'1,'.repeat(8_000_000)}1]`))
    const artifact = new SpooledJsonArtifact(reader)
    await artifact.type()
    for (const look of [
      (signal: AbortSignal) => artifact.type('[7999999]', { signal }),
      (signal: AbortSignal) => artifact.get('[7999999]', { signal }),
      (signal: AbortSignal) => artifact.textAt('[7999999]', 100, { signal }),
    ]) {
      const before = read()
      const abort = new AbortController()
      const asking = look(abort.signal)
      setTimeout(() => abort.abort(), 1)
      await expect(asking).rejects.toMatchObject({ name: 'AbortError' })
      expect(read() - before).toBeLessThan(10_000_000)
    }
  })

  it('refuses to hold a value that is too large', async () => {
    const artifact = await json(JSON.stringify({ big: 'x'.repeat(2_000_000), small: 1 }))
    await expect(artifact.get('big')).rejects.toSatisfy(code('E_LIMIT_EXCEEDED'))
    expect(await artifact.get('small')).toBe(1)
  })
})

describe('forged JSON tools', () => {
  it('offer fourteen tools and page by cursor', async () => {
    const artifact = await json(JSON.stringify(users))
    const tools = SpooledArtifact.forgeTools({ turnToolCalls: [{ id: 'c', results: artifact }] })
    expect(tools.size).toBe(14)
    const seen: unknown[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 50; pages++) {
      const answer = await ask(artifact, 'json_slice', { cursor, limit: 73 })
      const rows = answer.split('\n').filter((row) => !row.startsWith('['))
      seen.push(...rows.map((row) => JSON.parse(row.replace(/^\d+: /, ''))))
      cursor = /cursor "([^"]+)"/.exec(answer)?.[1]
      if (cursor === undefined) break
    }
    expect(seen).toEqual(users)
  })

  it('answer in words that a model can act on', async () => {
    const artifact = await json(JSON.stringify(document))
    expect(await ask(artifact, 'json_type', { path: 'users' })).toBe('array')
    expect(await ask(artifact, 'json_keys')).toBe('version\nusers\na.b\nempty\nnothing')
    expect(await ask(artifact, 'json_length', { path: 'users' })).toBe('1000')
    expect(await ask(artifact, 'json_get', { path: 'users[3].address' })).toBe('{"city":"Ulm"}')
    expect(await ask(artifact, 'json_get', { path: 'users' })).toMatch(/^\(this array is too large/)
    expect(await ask(artifact, 'json_get', { path: 'nope' })).toMatch(/^Error: The path `\$\.nope`/)
    expect(await ask(artifact, 'json_slice', { path: 'users', start: 998 })).toBe(
      `998: ${JSON.stringify(users[998])}\n999: ${JSON.stringify(users[999])}`,
    )
    const where = { path: 'users', field: 'id', operator: 'less', value: 2 }
    expect(await ask(artifact, 'json_filter', where)).toBe(
      `0: ${JSON.stringify(users[0])}\n1: ${JSON.stringify(users[1])}`,
    )
    const fields = ['id', 'address.city']
    expect(await ask(artifact, 'json_pluck', { path: 'users', fields, limit: 1 })).toBe(
      '0: {"id":0,"address.city":"Ulm"}\n[left out: items from 1 on; to continue, call again with cursor "item:1@71#b4386125"]',
    )
    expect(await ask(artifact, 'json_slice', { path: 'users', cursor: 'item:5@9' })).toMatch(
      /^Error: `item:5@9` is not a cursor of this query/,
    )
  })

  it('say how many keys they left out, as far as those were counted', async () => {
    const asked = async (size: number) => {
      const keys = Array.from({ length: size }, (_, i) => [`key ${i}`, 0] as const)
      const rows = (
        await ask(await json(JSON.stringify(Object.fromEntries(keys))), 'json_keys')
      ).split('\n')
      return { note: rows.at(-1), shown: rows.length - 1 }
    }
    const behind = 'more keys; json_slice shows members by position]'
    expect((await asked(1_000)).note).toBe('key 999')
    const some = await asked(9_000)
    expect(some.note).toBe(`[left out: ${9_000 - some.shown} ${behind}`)
    const many = await asked(20_000)
    expect(many.note).toBe(`[left out: at least ${10_000 - many.shown} ${behind}`)
  })

  it('never hand out half a surrogate pair', async () => {
    expect(await ask(await json('{"\\ud800":"\\udc00"}'), 'json_keys')).toBe('\ufffd')
    const plucked = await ask(await json('["\\ud800"]'), 'json_pluck', { fields: [''] })
    expect(plucked.isWellFormed()).toBe(true)
  })

  it('keep numbers as they are written and answers bounded', async () => {
    expect(await ask(await json('[12345678901234567890]'), 'json_slice')).toBe(
      '0: 12345678901234567890',
    )
    const wide = await json(JSON.stringify(Array.from({ length: 300 }, () => 'é'.repeat(9_000))))
    expect((await ask(wide, 'json_slice', { limit: 500 })).length).toBeLessThan(17_000)
    const manyKeys = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`key ${i}`, i]))
    expect((await ask(await json(JSON.stringify(manyKeys)), 'json_keys')).length).toBeLessThan(
      17_000,
    )
  })
})

/** A reader that tells how many bytes were streamed from it. */
function counted(inner: SpoolReader): { readonly reader: SpoolReader; read(): number } {
  let bytes = 0
  const reader = {
    ...inner,
    async *stream(range?: ByteRange) {
      for await (const chunk of inner.stream(range)) {
        bytes += chunk.length
        yield chunk
      }
    },
  }
  return { reader, read: () => bytes }
}
