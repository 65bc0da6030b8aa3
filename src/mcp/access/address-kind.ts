/** Where the host of an address is, as far as the address itself says: names are not looked up. */
export type AddressKind = 'here' | 'private' | 'elsewhere'

/** Whether an address is on this machine, in a private network, or elsewhere. */
export function addressKind({ hostname }: URL): AddressKind {
  if (/^(.+\.)?localhost\.?$/.test(hostname)) return 'here'
  const v4 = /^\d+(\.\d+){3}$/.test(hostname) ? hostname.split('.').map(Number) : undefined
  if (v4 !== undefined) return kindOfV4(v4)
  return hostname.startsWith('[') ? kindOfV6(groupsOf(hostname.slice(1, -1))) : 'elsewhere'
}

function kindOfV4([a = 0, b = 0]: readonly number[]): AddressKind {
  if (a === 0 || a === 127) return 'here'
  const isPrivate =
    a === 10 ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254) ||
    (a === 100 && b >= 64 && b < 128)
  return isPrivate ? 'private' : 'elsewhere'
}

/** How IPv6 addresses begin that stand for one of IPv4. */
const V4_PREFIXES = ['0:0:0:0:0:0', '0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']

function kindOfV6(groups: readonly number[]): AddressKind {
  const prefix = groups.slice(0, 6).map((group) => group.toString(16))
  // `::` and `::1` are among them: their IPv4 addresses begin with 0.
  if (V4_PREFIXES.includes(prefix.join(':'))) {
    return kindOfV4(groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]))
  }
  const [first = 0] = groups
  const isPrivate = (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80
  return isPrivate ? 'private' : 'elsewhere'
}

/** The eight groups of an IPv6 address as a `URL` writes it. */
function groupsOf(text: string): readonly number[] {
  const [head, tail] = text.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const [before, after] = [head ?? [], tail ?? []]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
}
