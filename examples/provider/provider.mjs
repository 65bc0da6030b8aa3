// A provider outside Bobbin: everything about a fictitious protocol, "Parley", in one definition.
//
// A request is `{ model, stream, rules?, abilities?, talk }`. `talk` is a list of turns: `{ who: 'user', say }`,
// `{ who: 'model', think?, say?, ask?: [{ ref, verb, with }] }` and `{ who: 'tools', gave: [{ ref, text, failed? }] }`.
// A response is one turn of the model with `end`; a stream sends its pieces as server-sent events.
import {
  assemble,
  brokenStream,
  clientFailure,
  defineProvider,
  encodeGroups,
  HistoryBuilder,
  providerFailure,
  wireModel,
} from 'bobbin-adk/provider'
import { fixtures } from './fixtures.mjs'

const API = 'parley'

const fields = (value) => (typeof value === 'object' && value !== null ? value : {})

const list = (value) => (Array.isArray(value) ? value.map(fields) : [])

const text = (value) => (typeof value === 'string' ? value : '')

// #region decode
/** Adds one turn of the talk to the history. */
function readTurn(value, builder) {
  const turn = fields(value)
  if (turn.who === 'user') {
    builder.endResponse()
    builder.message('user', [{ type: 'text', text: text(turn.say) }])
  } else if (turn.who === 'tools') {
    for (const { ref, text: gave, failed } of list(turn.gave)) {
      const parts = [{ type: 'text', text: text(gave) }]
      builder.result({
        type: 'gave',
        tool: 'unknown',
        executedBy: 'runner',
        callId: text(ref),
        isError: failed === true,
        parts,
      })
    }
  } else if (turn.who === 'model') {
    builder.startResponse(text(turn.id))
    // The proof goes back only where it came from.
    if (turn.think !== undefined) builder.thought(text(turn.think), { proof: text(turn.proof) })
    if (text(turn.say)) builder.message('assistant', [{ type: 'text', text: text(turn.say) }])
    for (const { ref, verb, with: args } of list(turn.ask)) {
      builder.call({
        type: 'ask',
        tool: text(verb) || 'unknown',
        executedBy: 'runner',
        callId: text(ref),
        args,
      })
    }
  } else {
    // A turn that we do not know travels back as it came.
    builder.raw(value ?? null)
  }
}

const ENDS = { done: 'stop', asks: 'tools', cut: 'length' }

/** A whole response. */
function readResponse(turn, context) {
  const builder = new HistoryBuilder(API, API, context)
  readTurn(turn, builder)
  const reason = Object.hasOwn(ENDS, text(turn.end)) ? ENDS[text(turn.end)] : 'other'
  const finish = assemble(builder.items, { reason, rawReason: text(turn.end) })
  return { items: finish.items, finish }
}

function decode(payload, context) {
  const whole = fields(payload)
  if (whole.end !== undefined) return readResponse(whole, context)
  const builder = new HistoryBuilder(API, API, context)
  const turns = Array.isArray(payload) ? payload : (whole.talk ?? [payload])
  for (const turn of Array.isArray(turns) ? turns : [turns]) readTurn(turn, builder)
  return { items: builder.items }
}
// #endregion decode

// #region stream
/** Puts a turn together from its events, and makes calls of it only at its end. */
function decodeStream(context) {
  const turn = { who: 'model', ask: [] }
  let isOver = false
  return {
    push(event) {
      if (isOver) return []
      const { error, think, say, proof, ask, end } = fields(event)
      if (error !== undefined) {
        throw providerFailure('E_PROVIDER_UNAVAILABLE', {
          api: API,
          message: text(fields(error).message),
        })
      }
      if (proof !== undefined) turn.proof = proof
      if (ask !== undefined) turn.ask.push(ask)
      if (end !== undefined) {
        isOver = true
        return [readResponse({ ...turn, end }, context).finish]
      }
      if (typeof think === 'string') {
        turn.think = text(turn.think) + think
        return [{ type: 'thought', key: 'think', delta: think }]
      }
      if (typeof say !== 'string') return []
      turn.say = text(turn.say) + say
      return [{ type: 'text', key: 'say', delta: say }]
    },
    end() {
      if (isOver) return []
      throw brokenStream('cut', 'it ends before `end`')
    },
    partial: () => decode([{ ...turn, ask: [] }], context).items,
  }
}
// #endregion stream

// #region encode
/** What this protocol takes as a `ref`. */
const ids = { refused: /[^\w-]/g, maxLength: 40 }

const textOf = (parts) =>
  parts.map((part) => (part.type === 'text' ? part.text : `[${part.kind}]`)).join('\n')

function encode(items, options = {}) {
  const talk = encodeGroups(items, { ...options, api: API, ids, encodeGroup })
  return { talk }
}

/** One response with its results, or one piece of input. */
function encodeGroup(group, context) {
  const items = group.kind === 'input' ? [group.item] : group.items
  const before = []
  const turn = { who: 'model' }
  const gave = []
  for (const item of items) {
    if (item.type === 'raw') {
      if (item.api === API) before.push(fields(item.value))
      else context.leftOut('raw', 'Only its own protocol understands it.')
    } else if (item.type === 'message') {
      if (item.role === 'assistant')
        turn.say = [turn.say, textOf(item.parts)].filter(Boolean).join('\n')
      else before.push({ who: 'user', say: textOf(item.parts) })
    } else if (item.type === 'thought') {
      const { proof } = fields(context.own(item.providerData))
      // Reasoning of other models is theirs.
      if (proof !== undefined) Object.assign(turn, { think: item.text, proof })
    } else if (item.type === 'openCall' || item.executedBy === 'provider') {
      turn.say = [turn.say, `(${item.tool} ran elsewhere)`].filter(Boolean).join('\n')
    } else {
      const ref = context.callId(item)
      const { isError, parts } = context.resultOf(item)
      turn.ask = [...(turn.ask ?? []), { ref, verb: item.tool, with: item.args }]
      gave.push({ ref, text: textOf(parts), ...(isError && { failed: true }) })
    }
  }
  const said = Object.keys(turn).length > 1 ? [turn] : []
  return [...before, ...said, ...(gave.length > 0 ? [{ who: 'tools', gave }] : [])]
}
// #endregion encode

// #region validate
/** The one rule of this provider: the results of a turn come right after it. */
function validate(payload) {
  const talk = Array.isArray(payload) ? payload : fields(payload).talk
  return list(talk).flatMap((turn, at, turns) => {
    const asked = list(turn.ask).map(({ ref }) => ref)
    const given = new Set(list(turns[at + 1]?.gave).map(({ ref }) => ref))
    const missing = turn.who === 'model' && asked.some((ref) => !given.has(ref))
    const message = 'a call has no result in the next turn'
    return missing
      ? [
          {
            rule: 'missing-result',
            path: `talk[${at}].ask`,
            message,
            prevents: '400: unanswered ask',
          },
        ]
      : []
  })
}
// #endregion validate

// #region definition
/** The protocol. */
export const parley = defineProvider({
  api: API,
  provider: API,
  version: 1,
  title: 'Parley',
  history: { member: 'talk' },
  detect: (payload) =>
    'talk' in fields(payload) || ('who' in fields(payload) && 'end' in fields(payload)),
  decode,
  decodeStream,
  encode,
  requestBody: ({ model, part, request, params, stream }) => ({
    model,
    ...(request.instructions && { rules: request.instructions }),
    ...(request.tools && {
      abilities: request.tools.map(({ name, description, inputSchema }) => ({
        verb: name,
        about: description,
        shape: inputSchema,
      })),
    }),
    ...params,
    ...part,
    stream,
  }),
  validate,
  errors: (error) => clientFailure(API, error),
  loopback: {
    route: /\/parley$/,
    basePath: '',
    isStream: (_path, body) => fields(body).stream === true,
    frame: (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
    errorBody: (status, message) => ({ error: { status, message } }),
    errorEvent: (status, message) => ({ error: { status, message } }),
  },
  fixtures,
})
// #endregion definition

// #region model
/** A model that speaks it. */
export function parleyModel({ model, url, fetch = globalThis.fetch }) {
  return wireModel(parley, {
    model,
    endpoint: url,
    send: (body, { signal }) =>
      fetch(`${url}/parley`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
  })
}
// #endregion model
