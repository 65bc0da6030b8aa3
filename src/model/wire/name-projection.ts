import { sha256Hex } from '#hash'

/** Makes a tool's name fit a wire: a model may have made up a name that no wire takes back. */
export function fitName(name: string, refused: RegExp, maxLength: number): string {
  const clean = name.replace(refused, '_')
  if (clean !== '' && clean === name && name.length <= maxLength) return name
  const tail = sha256Hex(name).slice(0, 8)
  return `${clean.slice(0, maxLength - tail.length - 1)}_${tail}`
}
