import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeFileSystem } from './file-system.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-files-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('nodeFileSystem', () => {
  it('opens no symbolic link, neither to read nor to create', async () => {
    const [target, link] = [join(folder, 'target'), join(folder, 'link')]
    await writeFile(target, 'not ours')
    await symlink(target, link)
    await expect(nodeFileSystem.openForReading(link)).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(nodeFileSystem.create(link)).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await nodeFileSystem.facts(link)).toMatchObject({ kind: 'other' })
    await nodeFileSystem.remove(link)
    expect(await readFile(target, 'utf8')).toBe('not ours')
  })

  it('creates no file in the place of another', async () => {
    const path = join(folder, 'there')
    await writeFile(path, 'already')
    await expect(nodeFileSystem.create(path)).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await readFile(path, 'utf8')).toBe('already')
  })
})
