import type { Client } from '@modelcontextprotocol/client'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { linkRequired } from '../../tools/person-request.ts'
import type { ToolContext, ToolOutput } from '../../tools/tool-context.ts'
import type { Effect } from '../../tools/tool-options.ts'
import { asSignIn, signInFailed } from '../access/sign-in.ts'
import { type Connection, failureText } from './connection.ts'
import { type ContentScope, contentOutput } from './content.ts'
import type { Definition } from './definition.ts'
import { type Fate, fateOf, linksOf } from './fate.ts'
import { Flight, type Flights, type Landing } from './flights.ts'
import { Progress } from './progress.ts'
import { nextQuestion, type Questions, questionsOf, readQuestions } from './questions.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'
import type { ToolList } from './tool-list.ts'

/** One server, for the calls of its tools. */
export interface ServerScope extends ContentScope {
  readonly connection: Connection
  readonly list: ToolList
  readonly flights: Flights
}

/** How often a call is tried, if it may be. */
const TRIES = 3
/** How often a server may ask to be called again with its own state alone. */
const MAX_ROUNDS = 8
/** How often a person is asked to sign in for one call. */
const MAX_SIGN_INS = 3
/** The longest time that a timer takes: the runner limits the call. */
const NO_LIMIT = 2 ** 31 - 1
/** Under this name the server gets the key that all attempts at a call share. */
const IDEMPOTENCY_KEY = 'bobbin-adk/idempotency-key'

/** A tool as it was offered. */
export interface OfferedTool {
  readonly definition: Definition
  readonly effect: Effect
  /** Whether each call needs an approval. */
  readonly asks: boolean
}

/** The handler of a server's tool. */
export async function callTool(
  server: ServerScope,
  tool: OfferedTool,
  args: JsonObject,
  ctx: ToolContext,
): Promise<ToolOutput> {
  const given = ctx.input && questionsOf(ctx.input)
  const open = given && nextQuestion(server.connection.name, given)
  if (open !== undefined) return open
  const call = new Call(server, tool, args, ctx, given)
  if (given?.parked !== undefined) return call.resume(given, given.parked)
  try {
    return await call.run()
  } catch (error) {
    return call.signIn(error)
  }
}

class Call {
  readonly #server: ServerScope
  readonly #tool: OfferedTool
  readonly #args: JsonObject
  readonly #ctx: ToolContext
  readonly #progress: Progress
  /** What the server asked last, with the answers. */
  #questions: Questions | undefined

  constructor(
    server: ServerScope,
    tool: OfferedTool,
    args: JsonObject,
    ctx: ToolContext,
    given: Questions | undefined,
  ) {
    this.#server = server
    this.#tool = tool
    this.#args = args
    this.#ctx = ctx
    this.#progress = new Progress(ctx)
    this.#questions = given
  }

  /** Sends the call. It is sent again only if nothing was sent, or if it is a `read` and its answer was lost. */
  async run(): Promise<ToolOutput> {
    const { connection } = this.#server
    const { signal } = this.#ctx
    let rounds = 0
    let failures = 0
    while (rounds <= MAX_ROUNDS) {
      const free = await connection.slots.take(signal)
      try {
        await this.#requireSame()
        const next = await this.#once(await connection.client(signal))
        if (!isAgain(next)) return next
        this.#questions = next.again
        rounds += 1
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error
        failures += 1
        const { fate } = error
        const mayRepeat = fate === 'not-sent' || (fate === 'lost' && this.#tool.effect === 'read')
        if (!mayRepeat || failures === TRIES) throw this.#end(error)
      } finally {
        free()
      }
    }
    throw new Error(`The server wanted the same call more than ${MAX_ROUNDS} times.`)
  }

  /** Refuses a call whose tool has changed since it was offered or approved. Right before the call is sent. */
  async #requireSame(): Promise<void> {
    const { definition, effect, asks } = this.#tool
    if (effect === 'read' && !asks) return
    await this.#server.list.requireSame(definition, this.#ctx.signal)
  }

  /** Sends the call over one client. The next call takes another client if this one lost it. */
  async #once(client: Client): Promise<ToolOutput | Again> {
    const { connection } = this.#server
    const flight = new Flight((signal) =>
      connection.request(client, () => this.#request(client, this.#questions, signal)),
    )
    try {
      return await this.#output(await this.#landing(flight))
    } catch (error) {
      const { fate } = error instanceof RequestFailed ? error : {}
      if (fate === 'lost' || fate === 'not-sent') connection.lost(client)
      throw error
    }
  }

  /** Asks for the sign-in that the server wants before it takes the call; throws what is about something else. */
  signIn(error: unknown): ToolOutput {
    const signIn = asSignIn(error)
    const { url } = signIn?.data ?? {}
    if (signIn === undefined || url === undefined) throw signIn ?? error
    const { signIns = 0, ...questions } = this.#questions ?? { requests: {}, answers: {} }
    if (signIns >= MAX_SIGN_INS) {
      throw signInFailed(`the server wants yet another one after ${signIns}`)
    }
    const message = `${this.#server.connection.name} wants you to sign in. Open the page, and come back when you are done.`
    return linkRequired({ message, url, state: { ...questions, signIns: signIns + 1 } })
  }

  /** Continues a call that waited in this process for an answer. */
  async resume({ answers }: Questions, name: string): Promise<ToolOutput> {
    const flight = this.#server.flights.take(name)
    const [answer] = Object.values(answers)
    if (flight === undefined || answer === undefined) {
      throw this.#lost('the session that asked has ended')
    }
    try {
      flight.answer(answer)
      const next = await this.#output(await this.#landing(flight))
      if (!isAgain(next)) return next
    } catch (error) {
      // The call was taken before: it cannot be made again.
      if (asSignIn(error) !== undefined) throw this.#lost('the server wants a new sign-in')
      throw error instanceof RequestFailed ? this.#end(error) : error
    }
    throw this.#lost('the server wanted the call again')
  }

  #request(client: Client, questions: Questions | undefined, signal: AbortSignal) {
    const { name, rawInput } = this.#tool.definition
    const { answers, requestState } = questions ?? {}
    const { idempotencyKey, trace } = this.#ctx
    const hasAnswers = answers !== undefined && Object.keys(answers).length > 0
    const params = {
      name,
      arguments: this.#args,
      // The names `traceparent` and `tracestate` are MCP's own.
      _meta: { [IDEMPOTENCY_KEY]: idempotencyKey, ...trace },
      ...(requestState !== undefined && { requestState }),
      ...(hasAnswers && { inputResponses: answers }),
    }
    return client.callTool(params, {
      signal,
      timeout: NO_LIMIT,
      onprogress: this.#progress.update,
      allowInputRequired: true,
      // With a definition the client neither sends a refused call again nor compiles the output schema.
      toolDefinition: { name, inputSchema: rawInput as { type: 'object' } },
    })
  }

  /** Waits until a call on its way has its result, or its server asks something. */
  async #landing(flight: Flight): Promise<Landing> {
    const { flights } = this.#server
    const { signal } = this.#ctx
    try {
      return await flights.during(flight, () => flight.landed(signal))
    } catch (error) {
      // An abort comes as a time-out of the client: look at the own signal.
      signal.throwIfAborted()
      const signIn = asSignIn(error)
      if (signIn !== undefined) throw signIn
      const links = linksOf(error)
      if (links === undefined) throw new RequestFailed(fateOf(error), error)
      return { result: { resultType: 'input_required', inputRequests: links } }
    } finally {
      this.#progress.flush()
    }
  }

  /** The output of a call, what a person must be asked, or that the server wants to be called again. */
  async #output(landing: Landing): Promise<ToolOutput | Again> {
    const { connection, flights } = this.#server
    if ('flight' in landing) {
      const parked = this.#ctx.idempotencyKey
      const questions = { requests: { asked: landing.request }, answers: {}, parked }
      try {
        const question = nextQuestion(connection.name, questions)
        flights.park(parked, landing.flight)
        return question
      } catch (error) {
        // The question cannot be put to a person, and the server waits: the call ends here.
        landing.flight.abort(error as Error)
        throw this.#lost(thrownText(error), error)
      }
    }
    const { result } = landing
    if (!isJsonObject(result) || result['resultType'] !== 'input_required') {
      return contentOutput(this.#tool.definition, result, this.#ctx, this.#server)
    }
    const questions = readQuestions(result)
    return nextQuestion(connection.name, questions) ?? new Again(questions)
  }

  /** The error of a call whose request failed for good. */
  #end({ fate, cause }: RequestFailed): Error {
    const text = shownBriefly(failureText(cause), 2_000)
    const { connection } = this.#server
    if (fate === 'answered') return new Error(text, { cause })
    if (fate === 'not-sent') return connection.unavailable(`The call was not sent: ${text}`, cause)
    return this.#lost(text, cause)
  }

  #lost(why: string, cause?: unknown): BobbinError {
    const { connection } = this.#server
    if (this.#tool.effect === 'read')
      return connection.unavailable(`The answer was lost: ${why}`, cause)
    const tool = this.#tool.definition.name
    const message = `${connection.name}: the call was sent, and its answer was lost: ${why}`
    return new BobbinError('E_EFFECT_UNKNOWN', message, { tool }, { cause })
  }
}

/** The server wants the call again, with its own state and without an answer. */
class Again {
  readonly again: Questions

  constructor(again: Questions) {
    this.again = again
  }
}

const isAgain = (value: unknown): value is Again => value instanceof Again

/** A request that failed, apart from errors in what came back. */
class RequestFailed extends Error {
  readonly fate: Fate

  constructor(fate: Fate, cause: unknown) {
    super('The request failed.', { cause })
    this.fate = fate
  }
}
