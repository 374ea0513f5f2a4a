#!/usr/bin/env node
/*
 * Makes the data directory that a version leaves to the next ones, and packs it into fixtures/databases/<version>.tar.gz. Run it
 * once for each release, after set-up:
 *
 *   node release-databases.mjs                      of this checkout
 *   node release-databases.mjs <penstock.mjs>       of the command of another checkout
 *
 * With PENSTOCK_DATABASE_URL, the URL of an empty PostgreSQL database, it makes <version>-postgres.tar.gz instead: the database of
 * the core is then a dump beside the directory. Needs pg_dump of the version of the server.
 *
 * The version's own program makes everything: the sample workspace, what the tour of the README creates, a token and
 * enforcement. expected.json in the archive has the secrets, and the number of rows of each table. Needs tar.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const requireFromDb = createRequire(join(root, 'packages/db/package.json'))
const Sqlite = requireFromDb('better-sqlite3')
const { Client } = requireFromDb('pg')
const databaseUrl = process.env.PENSTOCK_DATABASE_URL
const command = resolve(process.argv[2] ?? join(root, 'packages/cli/bin/penstock.mjs'))
const { stdout: printed } = spawnSync(process.execPath, [command, '--version'], { encoding: 'utf8' })
const version = printed.trim()
/** The secrets of a test, which protect nothing. */
const secrets = { apiKey: 'the-api-key-of-this-fixture', rootToken: 'the-root-token-of-this-fixture' }
const START_DEADLINE_MS = 120_000
const EXPORT_DEADLINE_MS = 300_000

const work = mkdtempSync(join(tmpdir(), 'penstock-databases-'))
const dataDir = join(work, 'data')
try {
  const service = await started()
  const ingestToken = await fill(service)
  await untilExported()
  service.child.kill('SIGTERM')
  await once(service.child, 'exit')
  // Telemetry is not kept across versions.
  for (const name of ['observe.db', 'observe.db-wal', 'observe.db-shm']) rmSync(join(dataDir, name), { force: true })
  for (const name of databaseUrl ? ['gateway.db'] : ['core.db', 'gateway.db']) compact(join(dataDir, name))
  if (databaseUrl) dumpCore()
  const expected = {
    version,
    ...secrets,
    ingestToken,
    core: databaseUrl ? await rowsOfCore() : rowsOf('core.db'),
    gateway: rowsOf('gateway.db'),
  }
  writeFileSync(join(work, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
  const archive = join(root, `fixtures/databases/${version}${databaseUrl ? '-postgres' : ''}.tar.gz`)
  mkdirSync(dirname(archive), { recursive: true })
  const packed = spawnSync('tar', [
    '--create',
    '--gzip',
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--file',
    archive,
    '--directory',
    work,
    'data',
    'expected.json',
    ...(databaseUrl ? ['core.sql'] : []),
  ])
  if (packed.status !== 0) throw new Error(`tar failed: ${packed.stderr}`)
  console.log(archive)
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function started() {
  const env = {
    PATH: process.env.PATH,
    PENSTOCK_DATA_DIR: dataDir,
    ...(databaseUrl && { PENSTOCK_DATABASE_URL: databaseUrl }),
    PENSTOCK_OBS_API_KEY: secrets.apiKey,
    PENSTOCK_ROOT_TOKEN: secrets.rootToken,
    PENSTOCK_DRAIN_DELAY_MS: '0',
    ...Object.fromEntries(
      ['CORE', 'OBS', 'OTLP_HTTP', 'OTLP_GRPC'].map((name) => [`PENSTOCK_${name}_LISTEN`, '127.0.0.1:0']),
    ),
  }
  const child = spawn(process.execPath, [command, 'serve', '--sample'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let banner = ''
  child.stdout.on('data', (text) => {
    banner += text
  })
  const startMs = performance.now()
  while (!banner.includes('Try next:')) {
    if (child.exitCode !== null || performance.now() - startMs > START_DEADLINE_MS) throw new Error('it did not start')
    await sleep(100)
  }
  const coreUrl = /REST API is on (http:\S+)\/api\/v4,/.exec(banner)[1]
  const managementUrl = /are on (http:\S+)\.\n/.exec(banner)[1]
  return { child, coreUrl, managementUrl }
}

/** Creates what every version can have, and returns an ingest token. */
async function fill({ coreUrl, managementUrl }) {
  const api = (method, path, body) =>
    call(`${coreUrl}/api/v4/${path}`, method, { 'private-token': secrets.rootToken }, body)
  const { id } = await api('POST', 'groups', { name: 'Ops', path: 'ops' })
  await api('POST', 'projects', { name: 'tools', namespace_id: id, initialize_with_readme: true })
  const { id: milestone } = await api('POST', 'groups/ops/milestones', { title: 'Spring', due_date: '2099-12-31' })
  await api('POST', 'projects/ops%2Ftools/issues', { title: 'Late frost', milestone_id: milestone })
  await api('PUT', 'projects/ops%2Ftools/issues/1', { state_event: 'close' })
  await api('POST', 'projects/ops%2Ftools/variables', { key: 'SEED', value: 'a value that is encrypted' })
  await api('POST', 'projects/ops%2Ftools/repository/files/NOTES', {
    branch: 'main',
    commit_message: 'Notes',
    content: 'Sow',
  })
  const manage = (method, path, body) =>
    call(`${managementUrl}/api/v1/ingest_auth/${path}`, method, { 'obs-api-key': secrets.apiKey }, body)
  const { token } = await manage('POST', 'tokens', { name: 'fixture' })
  await manage('PUT', 'state', { enabled: true })
  return token
}

async function call(url, method, headers, body) {
  const response = await fetch(url, {
    ...{ method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) },
  })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** Waits until the sample workspace is complete and its exports are delivered. */
async function untilExported() {
  const startMs = performance.now()
  while (existsSync(join(dataDir, 'sample-workspace.pending')) || openExports() > 0) {
    if (performance.now() - startMs > EXPORT_DEADLINE_MS) throw new Error('the samples were not exported in time')
    await sleep(500)
  }
}

function openExports() {
  const { stdout } = spawnSync(process.execPath, [command, 'doctor'], {
    ...{
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        PENSTOCK_DATA_DIR: dataDir,
        ...(databaseUrl && { PENSTOCK_DATABASE_URL: databaseUrl }),
      },
    },
  })
  return Number(/(\d[\d,]*) waits?$/m.exec(stdout)?.[1]?.replaceAll(',', '') ?? 1)
}

function compact(file) {
  const database = new Sqlite(file)
  database.pragma('journal_mode = delete')
  database.exec('vacuum')
  database.close()
}

/** Returns the number of rows of each table. */
function rowsOf(name) {
  const database = new Sqlite(join(dataDir, name), { readonly: true })
  const tables = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by 1")
    .pluck()
    .all()
  const counts = tables.map((table) => [table, database.prepare(`select count(*) from "${table}"`).pluck().get()])
  database.close()
  return Object.fromEntries(counts)
}

/** Writes the database of the core as SQL beside the data directory. */
function dumpCore() {
  const file = join(work, 'core.sql')
  const dumped = spawnSync('pg_dump', ['--no-owner', '--no-privileges', '--file', file, databaseUrl], {
    encoding: 'utf8',
  })
  if (dumped.status !== 0) throw new Error(`pg_dump failed: ${dumped.stderr}`)
}

/** Returns the number of rows of each table in the database of the core. */
async function rowsOfCore() {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1")
  const counts = []
  for (const { tablename } of rows) {
    const {
      rows: [row],
    } = await client.query(`select count(*)::int as count from "${tablename}"`)
    counts.push([tablename, row.count])
  }
  await client.end()
  return Object.fromEntries(counts)
}
