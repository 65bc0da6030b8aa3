import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { cli } from './in-process.ts'
import { knownViolations } from './known-violations.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-lint-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const seen = knownViolations.filter(({ payload }) => payload !== undefined)
const titled = seen.map((each) => [`${each.api}: ${each.violation}`, each] as const)

function write(value: unknown, name = 'history.json'): string {
  writeFileSync(join(cwd, name), typeof value === 'string' ? value : JSON.stringify(value, null, 2))
  return name
}

interface Report {
  readonly api: string
  readonly violations: readonly { readonly rule: string; readonly prevents: string }[]
}

describe('bobbin lint', () => {
  it.each(titled)('names %s', async (_title, { api, rule, payload }) => {
    const { stdout, code } = await cli(['lint', '--json', write(payload)], { cwd })
    const report = JSON.parse(stdout) as Report
    expect(report.api).toBe(api)
    expect(report.violations.map((each) => each.rule)).toContain(rule)
    expect(report.violations.every(({ prevents }) => prevents.length > 10)).toBe(true)
    expect(code).toBe(1)
  })

  it.each(titled)('fixes %s', async (_title, { api, payload }) => {
    const file = write(payload)
    const { code, stdout } = await cli(['lint', '--fix', file], { cwd })
    const fixed: unknown = JSON.parse(readFileSync(join(cwd, file), 'utf8'))
    expect(wire(api).validate(fixed)).toEqual([])
    expect({ code, stdout }).toMatchObject({ code: 0 })
  })

  it('misses only what no history shows, and its page says so', () => {
    const page = readFileSync(inRoot('docs', 'cli.md'), 'utf8').replaceAll(/\s+/g, ' ')
    const unseen = knownViolations.filter(({ payload }) => payload === undefined)
    expect(unseen.map(({ violation }) => violation)).toEqual([
      'function_call replayed without the reasoning item that came before it',
      'forged encrypted_content',
      'thoughtSignature of another model, route or key',
    ])
    for (const { violation, unseen: why = 'no reason' } of unseen) {
      expect(page).toContain(`${violation}: ${why}`)
    }
    expect(seen).toHaveLength(42)
  })

  it('says in words where the fault is and what the provider answers', async () => {
    const file = write({ input: [{ type: 'function_call_output', call_id: 'c1', output: 'ok' }] })
    const { stdout } = await cli(['lint', file], { cwd })
    expect(stdout).toBe(
      [
        'history.json input[0]: `function_call_output` has no `function_call` with call_id c1 before it stray-output',
        '    openai-responses answers: No tool call found for function call output with call_id …',
        'history.json: openai-responses, 1 fault; --fix repairs what it can',
        '',
      ].join('\n'),
    )
  })

  it('writes places in one style, whatever the provider’s own is', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: '' }] }]
    const file = write({ system: 's', messages })
    const { stdout } = await cli(['lint', '--from', 'anthropic-messages', file], { cwd })
    expect(stdout).toContain('history.json messages[0].content[0].text: ')
  })

  it('reads standard input and one item a line, and writes the fixed list', async () => {
    const stdin =
      '{"role":"user","content":"go"}\n{"role":"tool","tool_call_id":"x","content":"y"}\n'
    const { stdout, stderr, code } = await cli(['lint', '--fix', '-'], { cwd, stdin })
    expect(wire('openai-chat').validate(JSON.parse(stdout))).toEqual([])
    expect(stderr).toContain('no faults')
    expect(code).toBe(0)
  })

  it.each([
    ['a missing file', 'nowhere.json', 'The file `nowhere.json` does not exist'],
    ['broken JSON', write('{"messages": [', 'broken.json'), '`broken.json` is not JSON'],
    ['something else', write({ hello: 1 }, 'other.json'), 'name it with --from'],
  ])('refuses %s in one sentence', async (_title, file, message) => {
    const { stdout, stderr, code } = await cli(['lint', file], { cwd })
    expect(stderr).toContain(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 })
  })
})

describe('bobbin convert', () => {
  it('carries a conversation to every other protocol, by its rules', async () => {
    const chat = {
      model: 'm',
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c:1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c:1', content: 'done' },
      ],
    }
    const file = write(chat)
    for (const { api: to } of providers) {
      const { stdout, code } = await cli(['convert', '--to', to, file], { cwd })
      expect(code).toBe(0)
      const payload: unknown = JSON.parse(stdout)
      expect(wire(to).validate(payload)).toEqual([])
      expect(wire(to).decode(payload).calls).toMatchObject([{ tool: 'f', args: { a: 1 } }])
    }
  })

  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const about = { name: 'weather', description: 'The weather of a city.' }
  const requests = {
    'openai-chat': {
      messages: [{ role: 'user', content: 'go' }],
      tools: [{ type: 'function', function: { ...about, parameters: schema } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      max_completion_tokens: 99,
      temperature: 0.5,
    },
    'openai-responses': {
      input: [{ type: 'message', role: 'user', content: 'go' }],
      tools: [{ type: 'function', ...about, parameters: schema }],
      tool_choice: { type: 'function', name: 'weather' },
      max_output_tokens: 99,
      temperature: 0.5,
    },
    'anthropic-messages': {
      messages: [{ role: 'user', content: 'go' }],
      tools: [{ ...about, input_schema: schema }],
      tool_choice: { type: 'tool', name: 'weather' },
      max_tokens: 99,
      temperature: 0.5,
    },
    gemini: {
      contents: [{ role: 'user', parts: [{ text: 'go' }] }],
      tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: schema }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
      generationConfig: { maxOutputTokens: 99, temperature: 0.5 },
    },
  } as const
  const ways = Object.keys(requests).flatMap((from) =>
    Object.keys(requests)
      .filter((to) => to !== from)
      .map((to) => [from, to] as [keyof typeof requests, keyof typeof requests]),
  )

  it.each(ways)(
    'carries tools and parameters from %s to %s, and loses nothing',
    async (from, to) => {
      const args = ['convert', '--from', from, '--to', to, write(requests[from])]
      const { stdout, stderr } = await cli(args, { cwd })
      expect(JSON.parse(stdout)).toEqual(requests[to])
      expect(stderr).toBe('')
    },
  )

  it('reads the schemas that Gemini writes in capitals, and the settings of its client', async () => {
    const declared = {
      ...about,
      parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
    }
    const { contents } = requests.gemini
    const config = { tools: [{ functionDeclarations: [declared] }], maxOutputTokens: 99 }
    const file = write({ contents, config })
    const { stdout } = await cli(['convert', '--to', 'anthropic-messages', file], { cwd })
    const { messages, tools, max_tokens } = requests['anthropic-messages']
    expect(JSON.parse(stdout)).toEqual({ messages, tools, max_tokens })
  })

  it('names on standard error what it cannot carry', async () => {
    const file = write({
      ...requests['openai-responses'],
      model: 'gpt-5',
      tools: [{ type: 'web_search' }],
      tool_choice: { type: 'web_search' },
      reasoning: { effort: 'low' },
    })
    const { stdout, stderr, code } = await cli(['convert', '--to', 'gemini', file], { cwd })
    expect(JSON.parse(stdout)).not.toHaveProperty('tools')
    for (const name of ['the tool `web_search`', '`tool_choice`', '`model`', '`reasoning`']) {
      expect(stderr).toContain(`${name} has no form in \`gemini\` and was left out.`)
    }
    expect(code).toBe(0)
  })

  it('carries no settings to a protocol that has other forms, and names them', async () => {
    const file = write(requests['openai-chat'])
    const { stdout, stderr } = await cli(['convert', '--to', 'bedrock-converse', file], { cwd })
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(['messages'])
    for (const name of ['tools', 'tool_choice', 'max_completion_tokens', 'temperature']) {
      expect(stderr).toContain(`\`${name}\` has no form in \`bedrock-converse\` and was left out.`)
    }
  })

  it('needs a protocol that exists', async () => {
    const { stderr, code } = await cli(['convert', '--to', 'acme', 'x.json'], { cwd })
    expect(stderr).toContain('`--to acme` names no protocol')
    expect(code).toBe(2)
  })
})
