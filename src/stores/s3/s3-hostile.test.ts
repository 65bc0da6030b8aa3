import { describe, expect, it } from 'vitest'
import { s3Spool } from './s3-spool.ts'

/** A spool whose server answers every request with the same text. */
const answering = (text: string) =>
  s3Spool({
    bucket: 'spools',
    endpoint: 'http://127.0.0.1:1',
    retryTimeoutMs: 0,
    client: { fetch: async () => new Response(text) },
  })

describe('an S3 server that misbehaves', () => {
  it('is not asked without end for the same page of objects', async () => {
    const page = '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>'
    await expect(collect(answering(page).digests())).rejects.toThrow('the same page of a list')
  })

  it('is not asked without end for the same page of uploads', async () => {
    const page = '<IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>'
    await expect(answering(page).sweep(new Set())).rejects.toThrow('the same page of a list')
  })
})

async function collect(all: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const each of all) found.push(each)
  return found
}
