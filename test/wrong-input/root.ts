import { checksum } from '../../src/core/checksum.ts'
import { ArgumentPreview } from '../../src/model/events/argument-preview.ts'
import { fallbackModel } from '../../src/model/fallback-model.ts'
import { inlineBySize } from '../../src/prompt/inline-by-size.ts'
import { Memory } from '../../src/records/memory.ts'
import { Message } from '../../src/records/message.ts'
import { resultText } from '../../src/records/result-text.ts'
import { Retrievable } from '../../src/records/retrievable.ts'
import { Thought } from '../../src/records/thought.ts'
import { ToolCall } from '../../src/records/tool-call.ts'
import { Media } from '../../src/spool/media.ts'
import { blobMedia, bytesMedia, spoolMedia, streamMedia } from '../../src/spool/media-reader.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import { sweepSpool } from '../../src/store/audit/sweep-spool.ts'
import { conversationKey } from '../../src/store/conversation-key.ts'
import { followConversation } from '../../src/store/feed/follow-conversation.ts'
import { stopTurn } from '../../src/store/feed/stop-turn.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { comparePositions } from '../../src/store/position.ts'
import { redactKeys } from '../../src/store/rows/redact-keys.ts'
import { storedResults } from '../../src/store/stored-results.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { Identity } from '../../src/text/identity.ts'
import { registerTokenCounter } from '../../src/text/token-count.ts'
import { Tokenizable } from '../../src/text/tokenizable.ts'
import { ArtifactTool } from '../../src/tools/artifact-tool.ts'
import { inputRequired, linkRequired } from '../../src/tools/person-request.ts'
import { Tool } from '../../src/tools/tool.ts'
import { ToolRegistry } from '../../src/tools/tool-registry.ts'
import { modelSummary } from '../../src/turn/compact/model-summary.ts'
import { modelExecutor } from '../../src/turn/executor/model-executor.ts'
import { subAgent } from '../../src/turn/nested/sub-agent.ts'
import { RUNNER } from './turns.ts'
import { EVERY_KIND, type WayIn, way } from './values.ts'

/** Options without a name that is known, and not left out by `null`. */
const OPTIONS = ['undefined', 'object', 'date', 'map'] as const

const tool = { name: 'a', description: 'a', inputSchema: { type: 'object' as const } }
const made = new Tool({ ...tool, handler: () => 'x' })
const agent = { executor: async () => ({ answer: 'x' }) }
const scripted = scriptedModel([])
const spool = memorySpool()
const reader = await spool.write('x')
const media = new Media({
  kind: 'document',
  trustTier: 'third-party',
  modalityHazard: 'inert',
  mimeType: 'text/plain',
  filename: 'a',
  reader: spoolMedia(reader),
})
const stored = (await media.spooled(spool)).toJSON()

/** Every way into the root, by what it exports; artifacts and stores have lists of their own. */
export const ROOT: Readonly<Record<string, readonly WayIn[]>> = {
  ArgumentPreview: [
    way(
      'preview.push',
      (delta) => new ArgumentPreview().push(delta),
      ...(['text', 'empty text'] as const),
    ),
  ],
  ArtifactTool: [
    way('new ArtifactTool', (options) => new ArtifactTool(options)),
    way(
      'new ArtifactTool({ handler })',
      (handler) => new ArtifactTool({ ...tool, handler }),
      'function',
    ),
  ],
  // It is thrown, not asked.
  BobbinError: [],
  Identity: [way('new Identity', (raw) => new Identity(raw))],
  Media: [
    way('new Media', (raw) => new Media(raw)),
    way('Media.fromJSON', (json) => Media.fromJSON(json, { spool })),
    way('Media.fromJSON(json, context)', (context) => Media.fromJSON(stored, context)),
  ],
  Memory: [way('new Memory', (raw) => new Memory(raw))],
  Message: [way('new Message', (raw) => new Message(raw))],
  Retrievable: [way('new Retrievable', (raw) => new Retrievable(raw))],
  Thought: [way('new Thought', (raw) => new Thought(raw))],
  Tokenizable: [way('new Tokenizable', (text) => new Tokenizable(text), 'text', 'empty text')],
  Tool: [
    way('new Tool', (options) => new Tool(options)),
    way('new Tool({ handler })', (handler) => new Tool({ ...tool, handler }), 'function'),
    way('tool.executor', (context) => made.executor(context), ...OPTIONS),
    way('tool.executor()(args)', (args) => made.executor()(args), 'object'),
  ],
  ToolCall: [
    way('new ToolCall', (raw) => new ToolCall(raw)),
    way('ToolCall.fromJSON', (json) => ToolCall.fromJSON(json)),
  ],
  ToolRegistry: [
    way('new ToolRegistry', (tools) => new ToolRegistry(tools), 'undefined', 'list', 'map'),
    way('registry.register', (one) => new ToolRegistry().register(one)),
    way('registry.merge', (tools) => new ToolRegistry().merge(tools), 'list', 'map'),
  ],
  TurnRunner: RUNNER,
  blobMedia: [way('blobMedia', (blob) => blobMedia(blob))],
  bytesMedia: [
    way('bytesMedia', (bytes) => bytesMedia(bytes)),
    way('bytesMedia(bytes, facts)', (facts) => bytesMedia(new Uint8Array(1), facts), ...OPTIONS),
  ],
  // Whatever has no form in JSON has one here, or throws a plain TypeError, as the documents say.
  canonicalStringify: [],
  checksum: [way('checksum', (name) => checksum(name, {}), 'text', 'empty text')],
  fallbackModel: [
    way('fallbackModel', (models) => fallbackModel(models)),
    way(
      'fallbackModel(models, options)',
      (options) => fallbackModel([scripted], options),
      ...OPTIONS,
    ),
    way(
      'fallbackModel(models, { on })',
      (on) => fallbackModel([scripted], { on }),
      'function',
      'undefined',
    ),
  ],
  modelSummary: [
    way('modelSummary', (model) => modelSummary(model)),
    way('modelSummary(model, options)', (options) => modelSummary(scripted, options), ...OPTIONS),
    way(
      'modelSummary(model, { instructions })',
      (instructions) => modelSummary(scripted, { instructions }),
      'text',
      'undefined',
    ),
  ],
  conversationKey: [
    way('conversationKey', (secret) => conversationKey(secret, 'c')),
    way(
      'conversationKey(secret, conversation)',
      (id) => conversationKey(new Uint8Array(32), id),
      'text',
    ),
  ],
  comparePositions: [way('comparePositions', (position) => comparePositions(position, '1.0'))],
  inlineBySize: [way('inlineBySize', (limit) => inlineBySize(limit))],
  // They tell what is what of anything.
  isBobbinError: [],
  isInstanceOf: [],
  memorySpool: [
    way('memorySpool', (options) => memorySpool(options), ...OPTIONS),
    way('spool.write', (data) => spool.write(data), 'list', 'text', 'empty text', 'map'),
    way('spool.read', (digest) => spool.read(digest)),
    way('spool.delete', (digest) => spool.delete(digest)),
    way('spool.sweep', (live) => spool.sweep(live), 'map'),
    way(
      'spool.sweep(live, { graceMs })',
      (graceMs) => spool.sweep(new Set([reader.digest]), { graceMs }),
      ...(['undefined', 'number'] as const),
    ),
  ],
  modelExecutor: [way('modelExecutor', (model) => modelExecutor(model))],
  redactKeys: [way('redactKeys', (pattern) => redactKeys(pattern))],
  registerTokenCounter: [
    way('registerTokenCounter', (name) => registerTokenCounter(name, () => 1)(), 'text'),
    way(
      'registerTokenCounter(encoding, counter)',
      (counter) => registerTokenCounter('a', counter)(),
      'function',
    ),
  ],
  resultText: [
    way('resultText', (call) => resultText(call), 'object', 'list', 'list of null', 'date', 'map'),
  ],
  spoolMedia: [way('spoolMedia', (given) => spoolMedia(given))],
  streamMedia: [
    way('streamMedia', (open) => streamMedia(open), 'function'),
    way('streamMedia(open, facts)', (facts) => streamMedia(() => '', facts), ...OPTIONS),
  ],
  storedResults: [
    way('storedResults', (store) => storedResults(store)),
    way('storedResults(store, spool)', (given) => storedResults(memoryStore(), given), 'undefined'),
  ],
  inputRequired: [
    way('inputRequired', (question) => inputRequired(question)),
    way('inputRequired({ schema })', (schema) => inputRequired({ message: 'a', schema })),
    way(
      'inputRequired({ message })',
      (message) => inputRequired({ message, schema: tool.inputSchema }),
      'text',
    ),
  ],
  linkRequired: [
    way('linkRequired', (question) => linkRequired(question)),
    way('linkRequired({ url })', (url) => linkRequired({ message: 'a', url })),
    way(
      'linkRequired({ message })',
      (message) => linkRequired({ message, url: 'https://a.example' }),
      'text',
    ),
  ],
  subAgent: [
    way('subAgent', (options) => subAgent(options)),
    way('subAgent({ agent })', (given) => subAgent({ ...tool, agent: given })),
    way(
      'subAgent({ message })',
      (message) => subAgent({ ...tool, agent, message }),
      ...(['undefined', 'function'] as const),
    ),
    way(
      'subAgent({ inputSchema })',
      (inputSchema) => subAgent({ ...tool, agent, inputSchema }),
      'undefined',
    ),
    way('subAgent({ output })', (output) => subAgent({ ...tool, agent, output }), 'undefined'),
    way('subAgent({ mesage })', (mesage) => subAgent({ ...tool, agent, mesage } as never)),
  ],
  followConversation: [
    way('followConversation', (store) => followConversation(store, { conversation: 'c' }).next()),
    way('followConversation(store, input)', (input) =>
      followConversation(memoryStore(), input).next(),
    ),
  ],
  stopTurn: [
    way('stopTurn', (store) => stopTurn(store, { conversation: 'c' })),
    way('stopTurn(store, input)', (input) => stopTurn(memoryStore(), input)),
  ],
  sweepSpool: [
    way('sweepSpool', (store) => sweepSpool(store)),
    way('sweepSpool(store, spool)', (given) => sweepSpool(memoryStore(), given), 'undefined'),
    way(
      'sweepSpool(store, spool, options)',
      (options) => sweepSpool(memoryStore(), memorySpool(), options),
      ...OPTIONS,
    ),
  ],
}

/** Guards take everything, and say no. */
export const GUARDS: readonly WayIn[] = [
  Identity.isIdentity,
  Media.isMedia,
  Memory.isMemory,
  Message.isMessage,
  Retrievable.isRetrievable,
  Thought.isThought,
  ToolCall.isToolCall,
  Tokenizable.isTokenizable,
  Tool.isTool,
  ArtifactTool.isArtifactTool,
].map((guard) => way(guard.name, (value) => guard(value), ...EVERY_KIND))
