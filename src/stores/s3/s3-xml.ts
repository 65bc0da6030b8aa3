/** What the texts of an S3 answer say. They are flat: a tag is found by its name, and holds no tag of the same name. */

/** The text of the first `<name>`, or undefined. */
export function textOf(xml: string, name: string): string | undefined {
  const [first] = elements(xml, name)
  return first === undefined ? undefined : unescapeXml(first)
}

/** The inside of each `<name>` element, in order. */
export function elements(xml: string, name: string): string[] {
  const found: string[] = []
  const [open, close] = [`<${name}>`, `</${name}>`]
  for (let at = xml.indexOf(open); at >= 0; ) {
    const start = at + open.length
    const end = xml.indexOf(close, start)
    if (end < 0) break
    found.push(xml.slice(start, end))
    at = xml.indexOf(open, end)
  }
  return found
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,4}));/gi, (whole, ten, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name)] ?? whole
    const code = hex === undefined ? Number(ten) : Number.parseInt(String(hex), 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** The body that completes a multipart upload. */
export function completion(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  )
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
