import { describe, expect, it } from 'vitest'
import { readEntry } from './server-entry.ts'

const env = { KEY: 'secret', EMPTY: '' }
const read = (given: unknown) => readEntry(given, { name: 'files', file: 'mcp.json' }, env)

describe('readEntry', () => {
  it('fills in variables of the environment, and keeps the options of the tools', () => {
    const given = {
      type: 'stdio',
      command: 'node',
      args: ['server.mjs', '--key=${KEY}', '${EMPTY:-.}', '$KEY'],
      env: { A: '${env:KEY}', B: '${EMPTY}', C: '${NONE:-}' },
      prefix: 'f_',
      only: ['read'],
    }
    expect(read(given)).toEqual({
      name: 'files',
      file: 'mcp.json',
      server: {
        command: 'node',
        args: ['server.mjs', '--key=secret', '.', '$KEY'],
        env: { A: 'secret', B: '', C: '' },
      },
      policy: { prefix: 'f_', only: ['read'] },
    })
    const headers = { authorization: 'Bearer ${KEY}' }
    expect(read({ url: 'http://${HOST:-localhost}/mcp', headers }).server).toEqual({
      url: 'http://localhost/mcp',
      headers: { authorization: 'Bearer secret' },
    })
  })

  it('takes what other programs write, and says what is ignored', () => {
    const given = { command: 'a', disabled: false, autoApprove: ['pay'], alwaysAllow: [] }
    expect(read(given)).toEqual({
      name: 'files',
      file: 'mcp.json',
      server: { command: 'a', args: [] },
      policy: {},
      notes: [
        '`autoApprove` of the MCP server `files` is ignored: `approval` and `effects` say which calls ask.',
      ],
    })
  })

  it.each([
    ['node', 'the MCP server `files` must be an object with `command` or `url`.'],
    [{}, 'the MCP server `files` has neither `command` nor `url`.'],
    [{ command: 'a', url: 'b' }, 'the MCP server `files` has both `command` and `url`.'],
    [
      { command: 'a', arg: [] },
      '`arg` of the MCP server `files` is not known: did you mean `args`?',
    ],
    [{ command: 'a', enabled: true }, '`enabled` of the MCP server `files` is not known: use '],
    [
      { command: 'a', disabled: 'no' },
      '`disabled` of the MCP server `files` must be true or false',
    ],
    [{ command: 'a', autoApprove: true }, '`autoApprove` of the MCP server `files` must be a list'],
    [{ command: 'a', args: [1] }, '`args` of the MCP server `files` must be a list of texts.'],
    [{ command: 'a', env: { P: 1 } }, '`env.P` of the MCP server `files` must be a text.'],
    [{ command: 'a', type: 'http' }, '`type` of the MCP server `files` must be `stdio`'],
    [
      { url: 'http://a/', type: 'sse' },
      '`type` of the MCP server `files` is `sse`, an old protocol',
    ],
    [{ url: 'ftp://a/' }, '`url` of the MCP server `files` must be an address that begins with'],
    [{ url: 'http://a/', headers: [] }, '`headers` of the MCP server `files` must be an object'],
    [
      { command: 'a', args: ['x', '${NONE}'] },
      '`args[1]` of the MCP server `files` needs the variable `NONE`: set it, or write `${NONE:-default}`.',
    ],
    [
      { command: 'a', env: { K: '${input:key}' } },
      '`env.K` of the MCP server `files` has `${input:key}`, which is not known here: write `${NAME}`.',
    ],
  ])('refuses %j', (given, message) => {
    expect(() => read(given)).toThrow(`\`mcp.json\`: ${message}`)
  })
})
