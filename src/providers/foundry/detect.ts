import { asObject } from '../../model/wire/wire-value.ts'
import { itemsIn } from '../openai/responses/detect.ts'

const ITEMS =
  /_preview_call(_output)?$|^(azure_|bing_|openapi_call|oauth_consent|workflow_action|memory_search_call)/

/** True for what only Foundry adds to the Responses API: agents, and the items of its own tools. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  if (whole?.['agent_reference'] !== undefined || whole?.['agent'] !== undefined) return true
  return itemsIn(payload).some(({ type }) => typeof type === 'string' && ITEMS.test(type))
}
