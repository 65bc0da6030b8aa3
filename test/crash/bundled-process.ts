import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { inRoot } from '../../scripts/project.mjs'

/** A TypeScript program made ready for `node`, bundled once and started often. */
export interface BundledProcess {
  start(task: object): Promise<ProcessEnd>
  remove(): void
}

export interface ProcessEnd {
  /** How it ended: an exit code, or the signal that killed it. */
  readonly end: number | NodeJS.Signals | null
  /** What it told, line by line. */
  readonly lines: readonly ProcessLine[]
  readonly errors: string
}

export interface ProcessLine {
  readonly event: string
  readonly [key: string]: unknown
}

/** Bundles a program of this folder: Node 20 runs no TypeScript. */
export async function bundledProcess(name: string): Promise<BundledProcess> {
  // Inside the project, because the program looks for packages from where it lies.
  mkdirSync(inRoot('.cache'), { recursive: true })
  const folder = mkdtempSync(inRoot('.cache', 'crash-'))
  const outfile = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [inRoot('test', 'crash', `${name}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // A binary and megabytes of tables stay where they are; one file for the rest loads faster.
    external: ['libsql', 'postgres', 'gpt-tokenizer', '@aws-sdk/*', '@smithy/*', '@google/genai'],
    alias: { '#hash': inRoot('src', 'core', 'hash.node.ts') },
    logLevel: 'silent',
  })
  return {
    start: (task) => run(outfile, task),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function run(file: string, task: object): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const lines = output.split('\n').filter((line) => line !== '')
      resolve({
        end: signal ?? code,
        lines: lines.map((line) => JSON.parse(line) as ProcessLine),
        errors,
      })
    })
  })
}
