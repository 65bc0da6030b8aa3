// `npm run lockfile`: adds the binaries of other platforms that a registry lacks to package-lock.json.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inRoot, readJson } from './project.mjs'
import { runNpm } from './run-command.mjs'

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {Readonly<Record<string, string>>} [optionalDependencies]
 * @typedef {Readonly<Record<string, LockedPackage>>} LockedPackages
 */

/**
 * An optional dependency that a locked package names and the lockfile does not lock.
 *
 * @typedef {object} Missing
 * @property {string} place its key in the lockfile
 * @property {string} name
 * @property {string} version as the package that needs it writes it
 * @property {boolean} dev
 */

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const PROCESSORS = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']
/** @type {Readonly<Record<string, string>>} */
const LIBRARIES = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' }

/**
 * npm omits an optional package when its registry lacks that version. `npm ci` then refuses the lockfile.
 *
 * @param {LockedPackages} packages
 * @returns {Missing[]}
 */
export function missingPackages(packages) {
  return Object.entries(packages).flatMap(([from, { dev = false, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).flatMap(([name, version]) => {
      const found = placesFor(from, name).find((place) => place in packages)
      const fits =
        found !== undefined && (!isExact(version) || packages[found]?.version === version)
      if (fits) return []
      const place = found === undefined ? `node_modules/${name}` : `${from}/node_modules/${name}`
      return [{ place, name, version, dev }]
    }),
  )
}

/**
 * Where Node looks for a package: inside the folder of the one that needs it, then in each folder above.
 *
 * @param {string} from
 * @param {string} name
 */
function placesFor(from, name) {
  const folders = from.split(/\/?node_modules\//).slice(1)
  return [folders.length, ...[...folders.keys()].reverse()].map((depth) => {
    const above = folders.slice(0, depth).map((folder) => `node_modules/${folder}/`)
    return `${above.join('')}node_modules/${name}`
  })
}

/** @param {string} version */
function isExact(version) {
  return /^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version)
}

/**
 * The lockfile's entry for a package that only one platform installs. The platform is read from the name,
 * as in `@rolldown/binding-linux-arm64-musl`.
 *
 * @param {Omit<Missing, 'place'>} missing
 * @param {string} [integrity] left out when the registry does not know the package
 */
export function entryOf({ name, version, dev }, integrity) {
  const words = name.split(/[/-]/)
  const os = words.filter((word) => SYSTEMS.includes(word))
  const cpu = words.filter((word) => PROCESSORS.includes(word))
  const libc = words.flatMap((word) => LIBRARIES[word] ?? [])
  if (cpu.length !== 1 || (os.length !== 1 && cpu[0] !== 'wasm32')) {
    throw new Error(
      `The name \`${name}\` does not say which platform it is for: add its words to SYSTEMS or ` +
        'PROCESSORS in scripts/complete-lockfile.mjs.',
    )
  }
  if (!isExact(version)) {
    throw new Error(
      `\`${name}\` is wanted as \`${version}\`, which is not one version: lock it by hand.`,
    )
  }
  return {
    version,
    ...(integrity && { integrity }),
    cpu,
    ...(dev && { dev }),
    ...(os[0] === 'linux' && libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  }
}

/** @param {Missing} missing */
async function askIntegrity({ name, version }) {
  const { code, stdout } = await runNpm(['view', `${name}@${version}`, 'dist.integrity'])
  const answer = stdout.trim()
  return code === 0 && /^sha512-[\w+/=]+$/.test(answer) ? answer : undefined
}

async function completeLockfile() {
  const path = inRoot('package-lock.json')
  const lockfile = readJson(path)
  const missing = missingPackages(lockfile.packages)
  let known = 0
  for (const wanted of missing) {
    const integrity = await askIntegrity(wanted)
    if (integrity !== undefined) known += 1
    lockfile.packages[wanted.place] = entryOf(wanted, integrity)
  }
  // In the order that npm writes, so that the next `npm install` leaves them where they are.
  const sorted = Object.entries(lockfile.packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  const packages = Object.fromEntries(sorted)
  writeFileSync(path, `${JSON.stringify({ ...lockfile, packages }, undefined, 2)}\n`)
  process.stdout.write(
    `package-lock.json: ${missing.length} packages added, ${known} of them with a checksum.\n`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await completeLockfile()
