import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inRoot } from '../scripts/project.mjs'

const read = (path: string) => readFileSync(inRoot(path), 'utf8')

describe('the page on artifacts', () => {
  it('shows the example as it is', () => {
    const example = read('examples/own-artifact.mjs')
    expect(read('docs/artifacts.md')).toContain(`\`\`\`js\n${example}\`\`\``)
  })

  it('needs no more than twenty lines for a class', () => {
    const [written = ''] = /^class .+?^\}$/ms.exec(read('examples/own-artifact.mjs')) ?? []
    expect(written).toContain('extends SpooledArtifact')
    expect(written.split('\n').length).toBeLessThanOrEqual(20)
  })
})
