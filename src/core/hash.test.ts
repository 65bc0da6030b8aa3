import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as node from './hash.node.ts'
import * as portable from './hash.portable.ts'

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex')

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), halves())
const data = fc.oneof(text, fc.uint8Array({ maxLength: 300 }))

/** Strings with halves of surrogate pairs, which have no UTF-8 form of their own. */
function halves(): fc.Arbitrary<string> {
  return fc
    .array(fc.integer({ min: 0xd7f0, max: 0xe010 }))
    .map((units) => String.fromCharCode(...units))
}

/** FIPS 180-4 examples and the long message of a million letters. */
const digests: [name: string, message: string, digest: string][] = [
  ['nothing', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'two blocks',
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  [
    'a million letters',
    'a'.repeat(1e6),
    'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
  ],
]

/** RFC 4231, test cases 1 to 4, 6 and 7 (5 is about truncation). */
const codes: [number: number, key: string, data: string, code: string][] = [
  [
    1,
    '0b'.repeat(20),
    hex(Buffer.from('Hi There')),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    2,
    hex(Buffer.from('Jefe')),
    hex(Buffer.from('what do ya want for nothing?')),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    3,
    'aa'.repeat(20),
    'dd'.repeat(50),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    4,
    '0102030405060708090a0b0c0d0e0f10111213141516171819',
    'cd'.repeat(50),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    6,
    'aa'.repeat(131),
    hex(Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First')),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    7,
    'aa'.repeat(131),
    hex(
      Buffer.from(
        'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
      ),
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
]

describe.each([
  ['node', node],
  ['portable', portable],
])('%s hashing', (_, hashing) => {
  it.each(digests)('gives the published digest of %s', (_name, message, digest) => {
    const stream = hashing.sha256Stream()
    for (const part of [message.slice(0, 7), message.slice(7)]) stream.update(Buffer.from(part))
    expect(hashing.sha256Hex(message)).toBe(digest)
    expect(hashing.sha256Hex(Buffer.from(message))).toBe(digest)
    expect(stream.digestHex()).toBe(digest)
  })

  it.each(codes)('gives the code of RFC 4231, case %i', (_case, key, message, code) => {
    expect(hex(hashing.hmacSha256(bytes(key), bytes(message)))).toBe(code)
  })

  it('reads a string as its UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, (string) => {
        const encoded = new TextEncoder().encode(string)
        expect(hashing.sha256Hex(string)).toBe(hashing.sha256Hex(encoded))
        expect(hashing.hmacSha256(bytes('00'), string)).toEqual(
          hashing.hmacSha256(bytes('00'), encoded),
        )
      }),
    )
  })
})

describe('the two ways to hash', () => {
  it('give the same digest', () => {
    fc.assert(
      fc.property(data, (message) => {
        expect(portable.sha256Hex(message)).toBe(node.sha256Hex(message))
      }),
    )
  })

  it('give the same digest for any chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        const digest = [node, portable].map(({ sha256Stream }) => {
          const stream = sha256Stream()
          for (const chunk of chunks) stream.update(chunk)
          return stream.digestHex()
        })
        expect(digest[1]).toBe(digest[0])
        expect(digest[0]).toBe(node.sha256Hex(Buffer.concat(chunks)))
      }),
    )
  })

  it('give the same message authentication code', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 150 }), data, (key, message) => {
        const code = createHmac('sha256', key).update(message).digest()
        for (const { hmacSha256, hmac128 } of [node, portable]) {
          expect(hmacSha256(key, message)).toEqual(new Uint8Array(code))
          expect(hmac128(key, message)).toBe(code.subarray(0, 16).toString('base64url'))
        }
      }),
    )
  })

  it.each(['a', 'é', '€', '😀'])('give the same code for messages of %s of any length', (char) => {
    const key = new Uint8Array(32).fill(7)
    for (let length = 0; length < 400; length++) {
      const message = char.repeat(length)
      expect(portable.hmac128(key, message)).toBe(node.hmac128(key, message))
    }
  })

  it.each([
    ['an array', new Uint8Array(32)],
    ['a Node buffer', Buffer.alloc(32)],
  ])('give the code under the bytes that a key has now: %s', (_, key) => {
    for (let i = 0; i < 64; i++) {
      key[i % 32] = i * 3
      expect(portable.hmac128(key, 'a')).toBe(node.hmac128(key, 'a'))
    }
  })
})
