import type { Artifact } from '../spool/artifact.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

/** The text of a link to something that the tool of its call can open. */
export class SpooledLink extends SpooledArtifact {
  static override readonly kind = 'link'
}

/** The method of a tool that opens links in its results. It has the same name in each copy of the package. */
export const OPEN_LINK: unique symbol = Symbol.for('bobbin/openLink')

interface LinkOpener {
  [OPEN_LINK](link: Artifact, signal: AbortSignal): Promise<Artifact>
}

const isOpener = (tool: unknown): tool is LinkOpener =>
  typeof tool === 'object' && tool !== null && OPEN_LINK in tool

/** What a query of an artifact is about: for a link, what the tool finds there; otherwise the artifact itself. */
export async function openedBy(
  tool: unknown,
  artifact: Artifact,
  signal: AbortSignal,
): Promise<Artifact> {
  if (artifact.kind !== SpooledLink.kind || !isOpener(tool)) return artifact
  return tool[OPEN_LINK](artifact, signal)
}
