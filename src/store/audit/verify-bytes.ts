import { sha256Hex } from '#hash'
import { isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import type { VerifyFault } from '../store.ts'
import type { FaultList } from './fault-list.ts'

const PAGE = 500

/** Hashes everything that entries refer to, in the store or on the spool. */
export async function verifyBytes(
  driver: StoreDriver,
  conversation: string,
  options: { readonly digests: ReadonlySet<string>; readonly spool: SpoolStore | undefined },
  list: FaultList,
): Promise<void> {
  const unlisted = new Set(options.digests)
  for (let after = ''; ; ) {
    const page = await driver.references(conversation, after, PAGE)
    for (const digest of page) unlisted.delete(digest)
    after = page.at(-1) ?? ''
    if (page.length < PAGE) break
  }
  for (const digest of unlisted) {
    const message = `The reference to \`${digest}\` is missing: a sweep would take what entries need.`
    list.add({ fault: 'deleted', part: 'conversation', id: digest, message })
  }
  for (const digest of options.digests) {
    const blob = await driver.blob(digest)
    if (blob === undefined) await verifySpool(options.spool, digest, list)
    else if (sha256Hex(blob) !== digest) list.add(fault('edited', 'blob', digest, 'was edited'))
  }
}

async function verifySpool(
  spool: SpoolStore | undefined,
  digest: string,
  list: FaultList,
): Promise<void> {
  if (spool === undefined) {
    const message = 'is not in the store: give `spool` to look for it there'
    list.add(fault('unreadable', 'spool', digest, message))
    return
  }
  try {
    await (await spool.read(digest)).verify()
  } catch (error) {
    if (isBobbinError(error, 'E_SPOOL_NOT_FOUND')) {
      list.add(fault('deleted', 'spool', digest, 'is neither in the store nor on the spool'))
    } else if (isBobbinError(error, 'E_SPOOL_CORRUPT')) {
      list.add(fault('edited', 'spool', digest, 'was edited on the spool'))
    } else {
      list.add(fault('unreadable', 'spool', digest, `cannot be read: ${thrownText(error)}`))
    }
  }
}

function fault(
  kind: VerifyFault['fault'],
  part: 'blob' | 'spool',
  id: string,
  message: string,
): VerifyFault {
  return { fault: kind, part, id, message: `\`${id}\` ${message}.` }
}
