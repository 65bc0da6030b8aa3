import { describe, expect, it } from 'vitest'
import { isOfType } from './media-type.ts'

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
const ZIP = 'PK\x03\x04rest'
const MP4 = '\0\0\0\x20ftypM4A rest'
const PNG = '\x89PNG\r\n\x1a\n rest'

describe('isOfType', () => {
  it.each([
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ZIP],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ZIP],
    ['application/epub+zip', ZIP],
    ['audio/mp4', MP4],
    ['audio/x-m4a', MP4],
    ['video/quicktime', '\0\0\0\x14ftypqt  '],
    ['audio/opus', 'OggSrest'],
    ['audio/aac', 'ID3rest'],
    ['image/heic', '\0\0\0\x18ftypheic'],
    ['image/png', PNG],
    ['text/csv', 'BMW,1'],
    ['text/plain', 'any text'],
    ['application/octet-stream', PNG],
  ])('takes %s', (type, content) => {
    expect(isOfType(bytes(content), type)).toBe(true)
  })

  it.each([
    ['image/png', 'GIF89a'],
    ['image/png', ZIP],
    ['image/bmp', ZIP],
    ['image/heic', MP4],
    ['image/x-strange', 'any bytes'],
    ['image/svg+xml', '<svg/>'],
    ['audio/x-strange', ZIP],
    ['audio/mpeg', 'OggSrest'],
    ['application/pdf', ZIP],
    ['text/plain', ZIP],
  ])('refuses %s', (type, content) => {
    expect(isOfType(bytes(content), type)).toBe(false)
  })
})
