import type { Model } from '../../model/model.ts'
import { type ResponsesOptions, responsesModel } from '../openai/responses/model.ts'
import { foundryResponses } from './protocol.ts'

/** A client and a deployment of Azure AI Foundry, and what every request carries along. */
export type FoundryOptions = ResponsesOptions

/**
 * A model or agent behind Azure AI Foundry's Responses endpoint. The client is `openai`'s, pointed at
 * `<project endpoint>/openai/v1`; name an agent with `params: { agent_reference: … }`.
 */
export function foundry(options: FoundryOptions): Model {
  return responsesModel('foundry', foundryResponses, options)
}
