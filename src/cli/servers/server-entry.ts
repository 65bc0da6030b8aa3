import type { BobbinError } from '../../core/error/error.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import { distance } from '../../core/word-distance.ts'
import type { McpServerConfig, McpToolsOptions } from '../../mcp/index.ts'
import { usageError } from '../command/usage-error.ts'
import { type Expand, expandFrom } from './expand-variables.ts'

/** One entry of `mcpServers`: where the server is, and how its tools are offered. */
export type AgentMcpServer = McpServerConfig & McpToolsOptions & ForeignFields

/** What other programs write into an entry. */
interface ForeignFields {
  /** The server is left out. */
  readonly disabled?: boolean
  /** Ignored with a note: calls ask as `approval` and `effects` say. */
  readonly autoApprove?: readonly string[]
  readonly alwaysAllow?: readonly string[]
}

/** The servers of an agent by name. */
export type AgentMcpServers = Readonly<Record<string, AgentMcpServer>>

/** A server that can be opened. */
export interface ServerEntry {
  /** As the user calls it. */
  readonly name: string
  /** The file that describes it, if one does. */
  readonly file?: string
  readonly server: McpServerConfig
  readonly policy: McpToolsOptions
  /** What the user should know about the entry. */
  readonly notes?: readonly string[]
}

const POLICY = [
  'prefix',
  'trusted',
  'trust',
  'effects',
  'approval',
  'only',
  'concurrency',
  'timeoutMs',
] as const satisfies readonly (keyof McpToolsOptions)[]

const PROCESS = ['command', 'args', 'env', 'cwd', 'type']
const ADDRESS = ['url', 'headers', 'type']
const APPROVED = ['autoApprove', 'alwaysAllow']
const FOREIGN = ['disabled', ...APPROVED]

type Fields = Readonly<Record<string, unknown>>
type Refuse = (field: string, rule: string) => BobbinError

/** Refuses a field of an entry: names the file, the entry and the field. */
export const refuserOf =
  ({ name, file }: Pick<ServerEntry, 'name' | 'file'>): Refuse =>
  (field, rule) => {
    const where = file === undefined ? '' : `\`${file}\`: `
    return usageError(`${where}\`${field}\` of the MCP server \`${name}\` ${rule}.`, 'mcp')
  }

/** Reads one entry and fills in variables of the environment. */
export function readEntry(
  given: unknown,
  { name, file }: { readonly name: string; readonly file: string },
  env: Readonly<Record<string, string | undefined>>,
): ServerEntry {
  const refuse = refuserOf({ name, file })
  if (!isObject(given) || Array.isArray(given)) {
    const shape = 'must be an object with `command` or `url`'
    throw usageError(`\`${file}\`: the MCP server \`${name}\` ${shape}.`, 'mcp')
  }
  const fields = given as Fields
  const isProcess = fields['command'] !== undefined
  if (isProcess === (fields['url'] !== undefined)) {
    const problem = isProcess ? 'has both `command` and `url`' : 'has neither `command` nor `url`'
    throw usageError(`\`${file}\`: the MCP server \`${name}\` ${problem}.`, 'mcp')
  }
  const known = [...(isProcess ? PROCESS : ADDRESS), ...POLICY]
  const unknown = Object.keys(fields).find((field) => ![...known, ...FOREIGN].includes(field))
  if (unknown !== undefined) throw refuse(unknown, unknownRule(unknown, known))
  if (!['undefined', 'boolean'].includes(typeof fields['disabled'])) {
    throw refuse('disabled', 'must be true or false')
  }
  const read = new EntryReader(fields, expandFrom(env), refuse)
  const notes = APPROVED.filter((field) => read.names(field).length > 0).map(
    (field) =>
      `\`${field}\` of the MCP server \`${name}\` is ignored: \`approval\` and \`effects\` say which calls ask.`,
  )
  const policy = POLICY.filter((field) => fields[field] !== undefined)
  return {
    name,
    file,
    server: isProcess ? read.process() : read.address(),
    policy: Object.fromEntries(policy.map((field) => [field, fields[field]])),
    ...(notes.length > 0 && { notes }),
  }
}

/** Whether an entry says that its server is not to be opened. */
export const isDisabled = (given: unknown): boolean =>
  isObject(given) && (given as Fields)['disabled'] === true

function unknownRule(field: string, known: readonly string[]): string {
  const near = known.find((each) => distance(each, field) <= 2)
  return near === undefined
    ? `is not known: use ${known.join(', ')}`
    : `is not known: did you mean \`${near}\`?`
}

class EntryReader {
  readonly #fields: Fields
  readonly #expand: Expand
  readonly #refuse: Refuse

  constructor(fields: Fields, expand: Expand, refuse: Refuse) {
    this.#fields = fields
    this.#expand = expand
    this.#refuse = refuse
  }

  process(): McpServerConfig {
    const { type = 'stdio' } = this.#fields
    if (type !== 'stdio') throw this.#refuse('type', 'must be `stdio` beside `command`')
    const command = this.#text('command')
    if (command.trim() === '') throw this.#refuse('command', 'must be the name of a program')
    return {
      command,
      args: this.names('args').map((each, at) => this.#filled(each, `args[${at}]`)),
      ...(this.#fields['env'] !== undefined && { env: this.#texts('env') }),
      ...(this.#fields['cwd'] !== undefined && { cwd: this.#text('cwd') }),
    }
  }

  /** A list of texts, empty unless given. */
  names(field: string): readonly string[] {
    const { [field]: list = [] } = this.#fields
    if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list
    throw this.#refuse(field, 'must be a list of texts')
  }

  address(): McpServerConfig {
    const { type = 'http' } = this.#fields
    if (type === 'sse') {
      const rule =
        'is `sse`, an old protocol that is not spoken here: ask for the address of `http`'
      throw this.#refuse('type', rule)
    }
    if (type !== 'http' && type !== 'streamable-http') {
      throw this.#refuse('type', 'must be `http` beside `url`')
    }
    const url = this.#text('url')
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw this.#refuse('url', 'must be an address that begins with http:// or https://')
    }
    return {
      url,
      ...(this.#fields['headers'] !== undefined && { headers: this.#texts('headers') }),
    }
  }

  #text(field: string): string {
    const value = this.#fields[field]
    if (typeof value !== 'string') throw this.#refuse(field, 'must be a text')
    return this.#filled(value, field)
  }

  #texts(field: string): Readonly<Record<string, string>> {
    const value = this.#fields[field]
    const rule = 'must be an object of texts'
    if (!isObject(value) || Array.isArray(value)) throw this.#refuse(field, rule)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        if (typeof each !== 'string') throw this.#refuse(`${field}.${name}`, 'must be a text')
        return [name, this.#filled(each, `${field}.${name}`)]
      }),
    )
  }

  #filled(text: string, field: string): string {
    return this.#expand(text, (rule) => this.#refuse(field, rule))
  }
}
