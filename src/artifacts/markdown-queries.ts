import { loadAnswers } from './load-answers.ts'
import type { QueryableMarkdown } from './markdown/markdown-answers.ts'
import { CURSOR, type Query, query } from './query/query.ts'

const headings = query({
  name: 'markdown_headings',
  description: 'Lists the headings, each with its line (from 0).',
  parameters: {
    depth: {
      type: 'integer',
      description: 'The deepest level to list',
      minimum: 1,
      maximum: 6,
      default: 6,
    },
    cursor: CURSOR,
  },
  run: async (markdown: QueryableMarkdown, args, context) =>
    (await loadAnswers()).listHeadings(markdown, args, context),
})

const section = query({
  name: 'markdown_section',
  description: 'Shows the section under a heading, its subsections included.',
  parameters: {
    heading: {
      type: 'string',
      description: 'The text of the heading, or its line',
      maxLength: 1_000,
    },
    cursor: CURSOR,
  },
  run: async (markdown: QueryableMarkdown, args, context) =>
    (await loadAnswers()).showSection(markdown, args, context),
})

const codeBlocks = query({
  name: 'markdown_code_blocks',
  description: 'Lists the fenced code blocks with their lines; artifact_cat shows the code.',
  parameters: {
    language: {
      type: 'string',
      description: 'Only blocks in this language',
      maxLength: 100,
      optional: true,
    },
    cursor: CURSOR,
  },
  run: async (markdown: QueryableMarkdown, args, context) =>
    (await loadAnswers()).listCodeBlocks(markdown, args, context),
})

const links = query({
  name: 'markdown_links',
  description: 'Lists the links and images, each with its line (from 0).',
  parameters: { cursor: CURSOR },
  run: async (markdown: QueryableMarkdown, args, context) =>
    (await loadAnswers()).listLinks(markdown, args, context),
})

/** The queries that Markdown answers beside those on text. */
export const markdownQueries: readonly Query[] = [headings, section, codeBlocks, links]
