import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { inRoot } from '../scripts/project.mjs'

const workflow = readFileSync(inRoot('.github/workflows/ci.yml'), 'utf8')

/** What GitHub's own parser and schema find wrong in a workflow. */
let faultsOf: (content: string) => Promise<string[]>

beforeAll(async () => {
  // Bundled, because the parser imports its schema in a way that Node does not accept.
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import * as parser from '@actions/workflow-parser'
        export async function faultsOf(content) {
          const file = { name: '.github/workflows/ci.yml', content }
          const { context, value } = parser.parseWorkflow(file, new parser.NoOperationTraceWriter())
          if (value !== undefined) await parser.convertWorkflowTemplate(context, value)
          return context.errors.getErrors().map((error) => error.message)
        }`,
      resolveDir: inRoot(),
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    logLevel: 'silent',
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  ;({ faultsOf } = (await import(`data:text/javascript;base64,${code}`)) as {
    faultsOf: typeof faultsOf
  })
})

describe('the workflow', () => {
  it('is valid by the schema of GitHub', async () => {
    expect(await faultsOf(workflow)).toEqual([])
  })

  it.each([
    ['an unknown key', workflow.replace('timeout-minutes', 'timeout')],
    ['an unknown context', workflow.replaceAll('matrix.node', 'matrices.node')],
    ['a step without an action', workflow.replace('uses: actions/checkout@v5', 'with: {}')],
  ])('would not pass with %s', async (_, broken) => {
    expect(broken).not.toBe(workflow)
    expect(await faultsOf(broken)).not.toEqual([])
  })

  it('runs scripts that package.json has', () => {
    const commands = [...workflow.matchAll(/- run: npm (?:run )?(\S+)$/gm)].map(([, name]) => name)
    const scripts = commands.filter((name) => name !== 'ci')
    expect(scripts).toEqual(['test', 'test:deep', 'build', 'test:portable'])
    expect(scripts.filter((name) => !(name && name in manifest.scripts))).toEqual([])
  })

  it('runs on the oldest Node that the package supports', () => {
    const [, oldest] = /node: \[(\d+)/.exec(workflow) ?? []
    expect(manifest.engines.node).toMatch(`>=${oldest}.`)
  })
})
