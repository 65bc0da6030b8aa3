import type { ToolCall } from 'bobbin-adk'
import { HONESTLY, incidentPlan, SOURCES } from './incident-plan.ts'
import type { Plan } from './plan-executor.ts'
import { isCut, rowsOf, textOf } from './read-answers.ts'

const NAMES = ['the log', 'the deploys', 'the hosts', 'the runbook'] as const
const FILLER = new Set(
  (
    'about after and any are before can did does for from had has have how into is it many much not of on ' +
    'our say says should show tell that the their them there they this to was were what when where ' +
    'which who whose why will with would you'
  ).split(' '),
)
const SHOWN = 4
const ROW_CHARS = 160

/** Rules for every question: the incident's own, or a search for the question's words. */
export function offlinePlan(question: string): Plan {
  const asksWhy = /\b(why|cause|wrong|incident|broke|broken|fail\w*|outage|fix)\b/i.test(question)
  return asksWhy ? incidentPlan() : lookupPlan(question)
}

/** Looks for the question's rarest word in everything there is and shows what it found. */
async function* lookupPlan(question: string): Plan {
  const words = wordsOf(question)
  if (words.length === 0) {
    return `${HONESTLY} Ask why checkout fails, or name a word, a host or a version to look for.`
  }
  const sources = yield {
    say: `${HONESTLY} I look for ${words.map((word) => `“${word}”`).join(', ')} everywhere.`,
    calls: [...SOURCES],
  }
  const findings: string[] = []
  for (const [index, source] of sources.entries()) {
    if (source.settlement !== 'ok') {
      findings.push(`I could not read ${NAMES[index] ?? 'a source'}: ${await textOf(source)}`)
      continue
    }
    const found = yield { calls: words.map((word) => grep(source, word)) }
    const texts = await Promise.all(found.map(textOf))
    const best = texts
      .map((text, at) => ({ word: words[at] ?? '', text, rows: rowsOf(text) }))
      .filter(({ rows }) => rows.length > 0)
      .sort((a, b) => a.rows.length - b.rows.length)[0]
    if (best === undefined) continue
    const lines = best.rows.length === 1 ? '1 line has' : `${best.rows.length} lines have`
    const more = isCut(best.text) ? 'more than ' : ''
    findings.push(
      `In ${NAMES[index] ?? 'a source'}, ${more}${lines} “${best.word}”:`,
      ...best.rows
        .slice(0, SHOWN)
        .map(({ position, text }) => `  line ${position}: ${text.trim().slice(0, ROW_CHARS)}`),
    )
  }
  if (findings.length > 0) return findings.join('\n')
  return `Nothing has ${words.map((word) => `“${word}”`).join(' or ')} in it. Ask why checkout fails, or set an API key to ask a model.`
}

/** The longest words tell most; versions and host names count as words. */
function wordsOf(question: string): readonly string[] {
  const words = question.match(/[\p{L}\p{N}][\p{L}\p{N}._-]*/gu) ?? []
  const telling = words
    .map((word) => word.replace(/[._-]+$/, ''))
    .filter((word) => (word.length > 2 || /\d/.test(word)) && !FILLER.has(word.toLowerCase()))
  return [...new Set(telling)].sort((a, b) => weight(b) - weight(a)).slice(0, 3)
}

const weight = (word: string) => word.length + (/\d/.test(word) ? 10 : 0)

const grep = (source: ToolCall | undefined, word: string) => ({
  tool: 'artifact_grep',
  args: {
    callId: source?.id ?? '',
    pattern: word,
    literal: true,
    ignoreCase: true,
    limit: 50,
  },
})
