export type { AgentStatus } from './engine-messages.ts'
export { type RestateAgent, type RestateAgentOptions, restateAgent } from './restate-agent.ts'
export {
  type RestateClient,
  type RestateClientOptions,
  type RestateRunInput,
  restateClient,
} from './restate-client.ts'
