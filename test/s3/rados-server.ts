import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { ensureS3, s3Folder } from '../../scripts/ensure-s3.mjs'
import { freePort } from '../restate/free-port.ts'

/** Ceph's S3 server with one monitor and one store in memory, on loopback. */
export interface RadosServer {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  makeBucket(name: string): Promise<void>
  /** Kills the S3 server; what it has stored stays. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends everything and deletes its files. */
  remove(): Promise<void>
}

const KEY = { accessKeyId: 'bobbin', secretAccessKey: 'bobbin-secret' }

/** Starts a server; needs about 12 s. */
export async function radosServer(): Promise<RadosServer> {
  const missing = await ensureS3()
  if (missing !== undefined) throw new Error(`There is no S3 server: ${missing}`)
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-rados-'))
  const [monitorPort, port] = [await freePort(), await freePort()]
  const endpoint = `http://127.0.0.1:${port}`
  const env = environment(folder)
  const run = (file: string, ...args: string[]) => {
    const { status, stderr, error } = spawnSync(join(s3Folder, 'usr/bin', file), args, { env })
    if (status !== 0) throw new Error(`${file} failed: ${error?.message ?? String(stderr)}`)
  }
  const running: ChildProcess[] = []
  const launch = (file: string, ...args: string[]) => {
    const options = { env, stdio: 'ignore' } as const
    const child = spawn(join(s3Folder, 'usr/bin', file), ['-f', ...args], options)
    running.push(child)
    return child
  }
  let gateway: ChildProcess | undefined
  const start = async () => {
    const front = `beast endpoint=127.0.0.1:${port}`
    gateway = launch('radosgw', '-n', 'client.admin', '--rgw-frontends', front)
    await untilAnswers(endpoint)
  }
  const remove = async () => {
    await Promise.all(running.map(killed))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const cluster = randomUUID()
    writeFileSync(join(folder, 'ceph.conf'), settings(folder, cluster, monitorPort))
    makeKeys(run, join(folder, 'keyring'))
    const map = join(folder, 'monmap')
    const address = `[v2:127.0.0.1:${monitorPort}]`
    run('monmaptool', '--create', '--fsid', cluster, '--addv', 'a', address, map)
    run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', join(folder, 'keyring'))
    launch('ceph-mon', '-i', 'a')
    const store = randomUUID()
    // The command is a Python program: Debian's Python has the version that its modules were made for.
    const client = join(s3Folder, 'usr/bin/ceph')
    const made = spawnSync('/usr/bin/python3', [client, 'osd', 'new', store], {
      env,
      timeout: 60_000,
    })
    if (made.status !== 0) throw new Error(`ceph osd new failed: ${String(made.stderr)}`)
    run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', store)
    launch('ceph-osd', '-i', '0')
    const user = ['--uid', 'bobbin', '--display-name', 'bobbin']
    const key = ['--access-key', KEY.accessKeyId, '--secret-key', KEY.secretAccessKey]
    run('radosgw-admin', 'user', 'create', ...user, ...key)
    await start()
  } catch (error) {
    await remove()
    throw error
  }
  return {
    endpoint,
    ...KEY,
    start,
    remove,
    async kill() {
      if (gateway !== undefined) await killed(gateway)
    },
    async makeBucket(name) {
      const client = new AwsClient({ ...KEY, service: 's3', region: 'us-east-1' })
      const { status } = await client.fetch(`${endpoint}/${name}`, { method: 'PUT' })
      if (status !== 200) throw new Error(`The bucket was not made: ${status}`)
    },
  }
}

function makeKeys(run: (file: string, ...args: string[]) => void, keyring: string): void {
  const all = (...parts: string[]) => parts.flatMap((part) => ['--cap', part, 'allow *'])
  run('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', ...all('mon'))
  run('ceph-authtool', keyring, '--gen-key', '-n', 'client.admin', ...all('mon', 'osd', 'mgr'))
  run('ceph-authtool', keyring, '--gen-key', '-n', 'osd.0', ...all('mon', 'osd'))
}

function environment(folder: string): NodeJS.ProcessEnv {
  const libraries = ['lib', 'usr/lib'].flatMap((lib) => [
    join(s3Folder, lib, 'x86_64-linux-gnu'),
    join(s3Folder, lib, 'x86_64-linux-gnu/ceph'),
    join(s3Folder, lib, 'ceph'),
  ])
  return {
    PATH: process.env['PATH'],
    LD_LIBRARY_PATH: libraries.join(':'),
    PYTHONPATH: join(s3Folder, 'usr/lib/python3/dist-packages'),
    CEPH_CONF: join(folder, 'ceph.conf'),
  }
}

function settings(folder: string, cluster: string, monitorPort: number): string {
  for (const name of ['mon', 'osd', 'run']) mkdirSync(join(folder, name))
  const lib = join(s3Folder, 'usr/lib/x86_64-linux-gnu')
  return `[global]
fsid = ${cluster}
mon host = v2:127.0.0.1:${monitorPort}
public network = 127.0.0.0/8
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${folder}/keyring
run dir = ${folder}/run
admin socket = ${folder}/run/$name.$pid.asok
log file = /dev/null
mon cluster log file = /dev/null
mon data = ${folder}/mon
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
erasure code dir = ${lib}/ceph/erasure-code
osd class dir = ${lib}/rados-classes
plugin dir = ${lib}/ceph
rgw crypt require ssl = false
`
}

async function untilAnswers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('The S3 server did not start within a minute.')
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
