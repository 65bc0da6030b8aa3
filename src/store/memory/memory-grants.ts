import type { StoreDriver } from '../rows/store-driver.ts'
import type { GrantRow } from '../rows/store-rows.ts'

/** The table of standing approvals, in the order in which they were given. */
export function memoryGrants(
  grants: Map<string, GrantRow>,
): Pick<StoreDriver, 'grant' | 'grants' | 'grantShapes' | 'replaceGrant'> {
  return {
    grant: async (id) => grants.get(id),

    async grants({ scope, tool, conversation, live, after, limit }) {
      const rows = [...grants.values()]
      const start = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1
      return rows
        .slice(start)
        .filter((row) => scope === undefined || row.scope === scope)
        .filter((row) => tool === undefined || row.tool === tool)
        .filter((row) => conversation === undefined || row.conversation === conversation)
        .filter((row) => live === undefined || isLive(row, live))
        .slice(0, limit)
    },

    async grantShapes(scopes, tool) {
      const live = [...grants.values()].filter((row) => row.tool === tool && row.state === 'live')
      return scopes.flatMap((scope) => {
        const shapes = live.filter((row) => row.scope === scope).map(({ shape }) => shape)
        return [...new Set(shapes)].map((shape) => ({ scope, shape }))
      })
    },

    async replaceGrant(grant, expected) {
      if (grants.get(grant.id)?.digest !== expected) return false
      grants.set(grant.id, grant)
      return true
    },
  }
}

function isLive(
  { shape, pattern, state, expiresAt }: GrantRow,
  live: { readonly shape: string; readonly pattern: string; readonly now: number },
): boolean {
  if (shape !== live.shape || pattern !== live.pattern || state !== 'live') return false
  return expiresAt === null || expiresAt > live.now
}
