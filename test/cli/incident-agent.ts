import { ensureBuilt } from '../../scripts/ensure-built.mjs'
import { inRoot } from '../../scripts/project.mjs'

/** The agent file that `npm start` runs. */
export const INCIDENT_AGENT = inRoot('examples', 'incident', 'agent.ts')

/** The options by which a command runs the incident. */
export const INCIDENT = ['--agent', INCIDENT_AGENT] as const

/** The agent imports the built package. */
export async function buildPackage(): Promise<void> {
  const { code, output } = await ensureBuilt()
  if (code !== 0) throw new Error(output)
}
