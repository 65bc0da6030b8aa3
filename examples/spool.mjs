// A spool by itself: bytes under the name of their content, read a line at a time.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SpooledArtifact } from 'bobbin-adk'
import { fileSpool } from 'bobbin-adk/fs'

const folder = await mkdtemp(join(tmpdir(), 'bobbin-'))
try {
  // #region spool
  const spool = fileSpool(folder)
  async function* log() {
    for (let n = 0; n < 100_000; n++) yield `line ${n}\n` // never whole in memory
  }
  const reader = await spool.write(log())
  assert.equal(reader.digest.length, 64) // SHA-256 of the bytes: that is its name

  const again = await spool.write(log())
  assert.equal(again.digest, reader.digest) // the same bytes are stored once

  const artifact = new SpooledArtifact(await spool.read(reader.digest))
  assert.equal(artifact.lineCount(), 100_000)
  assert.equal(await artifact.line(70_000), 'line 70000') // by its index, not by reading up to there
  // #endregion spool

  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  assert.ok(files.some((file) => file.isFile() && file.name.startsWith(reader.digest.slice(0, 8))))
  await spool.delete(reader.digest)
  await assert.rejects(async () => spool.read(reader.digest), { code: 'E_SPOOL_NOT_FOUND' })
  console.log('spool: all as expected')
} finally {
  await rm(folder, { recursive: true })
}
