// `npm run release:check`: says whether this commit can be published. Publishes nothing.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inRoot, readJson } from './project.mjs'
import { giveUp, runCommand, runNpm } from './run-command.mjs'

/**
 * @typedef {object} Candidate
 * @property {string} version in package.json
 * @property {string} lockedVersion in package-lock.json
 * @property {string} changelog
 * @property {string} changes what `git status --porcelain` prints
 * @property {readonly string[]} tags
 */

/**
 * What to fix before a release can be published, one sentence each.
 *
 * @param {Candidate} candidate
 * @returns {string[]}
 */
export function releaseFaults({ version, lockedVersion, changelog, changes, tags }) {
  const faults = []
  if (changes.trim() !== '') faults.push('Some files have changes: commit them.')
  if (lockedVersion !== version) {
    faults.push(
      `package.json has version ${version} and package-lock.json ${lockedVersion}: set both ` +
        'with `npm version --no-git-tag-version`.',
    )
  }
  if (tags.includes(`v${version}`)) {
    faults.push(`The tag v${version} exists: raise the version in package.json.`)
  }
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.startsWith(`[${version}]`))
  const [title = '', ...lines] = section?.split('\n') ?? []
  if (section === undefined) {
    faults.push(`CHANGELOG.md has no section \`## [${version}] - DATE\`: add it.`)
  } else if (!/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(title)) {
    faults.push(`The section of ${version} in CHANGELOG.md has no date: write \`2026-11-30\`.`)
  } else if (!lines.some((line) => line.startsWith('- '))) {
    faults.push(`The section of ${version} in CHANGELOG.md is empty: say what users get.`)
  }
  const [, unreleased = ''] = /^\[Unreleased\]\n(.*)/s.exec(sections[0] ?? '') ?? []
  if (/^- /m.test(unreleased)) {
    faults.push(`CHANGELOG.md still has lines under "Unreleased": move them to ${version}.`)
  }
  return faults
}

async function checkRelease() {
  const { version } = readJson(inRoot('package.json'))
  const git = async (/** @type {string[]} */ ...args) => (await runCommand('git', args)).stdout
  const faults = releaseFaults({
    version,
    lockedVersion: readJson(inRoot('package-lock.json')).version,
    changelog: readFileSync(inRoot('CHANGELOG.md'), 'utf8'),
    changes: await git('status', '--porcelain'),
    tags: (await git('tag', '--list')).split('\n'),
  })
  if (faults.length > 0) giveUp(faults.join('\n'))
  const tests = process.argv.includes('--quick') ? [] : [['test'], ['run', 'test:deep']]
  for (const args of [...tests, ['pack', '--dry-run']]) {
    const { code } = await runNpm(args, { show: true })
    if (code !== 0) giveUp(`\`npm ${args.join(' ')}\` failed: npm says why above.`)
  }
  process.stdout.write(`\n${version} can be published. RELEASING.md has the next steps.\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await checkRelease()
