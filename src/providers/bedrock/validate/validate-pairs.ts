import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import { type BlockView, type RequestView, runnerResult, runnerUse } from './request-view.ts'

const askedBy = (view: BlockView) => asText(runnerUse(view)?.['toolUseId'])
const answeredBy = (view: BlockView) => asText(runnerResult(view)?.['toolUseId'])

/** Which result answers which call. */
export const PAIRING_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'missing-result',
    prevents: 'Expected toolResult blocks at messages.N.content for the following Ids: …',
    *check({ messages }) {
      for (const { blocks, role, index } of messages) {
        if (role !== 'assistant') continue
        const next = messages[index + 1]
        const answered = next?.role === 'user' ? next.blocks.map(answeredBy) : []
        for (const view of blocks) {
          if (runnerUse(view) === undefined || answered.includes(askedBy(view))) continue
          yield {
            path: view.path,
            message: `\`toolUse\` ${askedBy(view)} has no result in the next message`,
          }
        }
      }
    },
  },
  {
    rule: 'stray-result',
    prevents:
      'The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.',
    *check({ messages }) {
      for (const { blocks, index } of messages) {
        const before = messages[index - 1]
        const asked = before?.role === 'assistant' ? before.blocks.map(askedBy) : []
        for (const view of blocks) {
          if (runnerResult(view) === undefined || asked.includes(answeredBy(view))) continue
          yield {
            path: view.path,
            message: `\`toolResult\` ${answeredBy(view)} has no \`toolUse\` in the previous message`,
          }
        }
      }
    },
  },
  {
    rule: 'duplicate-result',
    prevents:
      'The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.',
    *check({ messages }) {
      for (const { blocks } of messages) {
        const seen = new Set<string | undefined>()
        for (const view of blocks.filter((each) => runnerResult(each) !== undefined)) {
          if (seen.has(answeredBy(view))) {
            yield { path: view.path, message: `answers ${answeredBy(view)} a second time` }
          }
          seen.add(answeredBy(view))
        }
      }
    },
  },
  {
    rule: 'duplicate-id',
    prevents: 'messages.N.content.N: `tool_use` ids must be unique',
    *check({ blocks }) {
      const seen = new Set<string>()
      for (const { tag, body, path } of blocks) {
        const id = tag === 'toolUse' ? asText(asObject(body)?.['toolUseId']) : undefined
        if (id === undefined) continue
        if (seen.has(id))
          yield { path: `${path}.toolUse.toolUseId`, message: `${id} is there twice` }
        seen.add(id)
      }
    },
  },
  {
    rule: 'tool-config',
    prevents:
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    *check({ blocks, request }) {
      // A history by itself has no place for it.
      if (request['modelId'] === undefined || request['toolConfig'] !== undefined) return
      if (!blocks.some(({ tag }) => tag === 'toolUse' || tag === 'toolResult')) return
      yield { path: 'toolConfig', message: 'is missing, and the messages hold calls' }
    },
  },
]
