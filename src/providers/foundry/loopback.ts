import type { LoopbackHalf } from '../../model/provider-definition.ts'
import { loopback as responses } from '../openai/responses/loopback.ts'

/** The server of a Foundry project. */
export const loopback: LoopbackHalf = {
  ...responses,
  basePath: '/api/projects/loopback/openai/v1',
}
