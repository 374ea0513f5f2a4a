import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type CoreTables, insertProject, insertUser } from '@penstock/core'
import { openDatabase } from '@penstock/db'
import { DeliveryQueue } from '@penstock/delivery'
import { type ExporterTables, FETCH_QUEUE } from '@penstock/exporter'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import { penstock } from '../command-line.ts'

const enqueuedMs = Date.UTC(2026, 1, 3, 4, 5, 6)

const keys = [
  'project:1 svc.example.test 31 traces',
  'project:1 svc.example.test 31 logs',
  'project:7 svc.example.test 8 #2 metrics',
  'source:forge forge.example.test 9 traces',
] as const

const pipelineBody = {
  object_kind: 'pipeline',
  object_attributes: {
    id: 31,
    status: 'success',
    created_at: '2026-02-03 04:00:00 UTC',
    finished_at: '2026-02-03 04:05:00 UTC',
  },
  project: { id: 1, web_url: 'https://svc.example.test/mira/tools' },
}

/** Creates a database in which deliveries 1 and 3 are dead, 2 is delivered and 4 is open. */
async function world() {
  const directory = await temporaryDirectory()
  const free = '127.0.0.1:0'
  const env = {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_CORE_LISTEN: free,
    PENSTOCK_OBS_LISTEN: free,
    PENSTOCK_OTLP_HTTP_LISTEN: free,
    PENSTOCK_OTLP_GRPC_LISTEN: free,
  }
  const run = (...args: readonly string[]) => penstock(args, { env })
  const runWith = (sources: object, ...args: readonly string[]) =>
    penstock(args, { env: { ...env, PENSTOCK_SOURCES: JSON.stringify(sources) } })
  await run('migrate')
  const database = join(directory.path, 'core.db')
  const db = openDatabase<CoreTables & ExporterTables>(database)
  await db.write(async (tx) => {
    const context = { db: tx, nowMs: enqueuedMs }
    const draft = { username: 'mira', name: 'Mira', email: 'mira@example.test', isAdministrator: false }
    const parent = await insertUser(context, draft)
    await insertProject(context, { parent, path: 'tools', name: 'tools', visibility: 'private' })
  })
  const queue = new DeliveryQueue(db, 'exports')
  const added = keys.map((key) => ({ key, lane: key.endsWith('9 traces') ? 'waits' : 'goes', subject: key }))
  await db.write((tx) => queue.enqueue(tx, added, enqueuedMs))
  const claimed = await queue.claim('goes', { claim: 'c', limit: 10, leaseMs: 1_000 }, enqueuedMs)
  const settlements = [
    { kind: 'dead', reason: 'HTTP 401: no such token', progress: '' },
    { kind: 'delivered', message: '' },
    { kind: 'dead', reason: 'gave up after 9 attempts: no answer', progress: '' },
  ] as const
  const settled = claimed.map((delivery, index) => ({ delivery, settlement: settlements[index]! }))
  await queue.settle(settled, enqueuedMs + 60_000)
  await db.write((tx) =>
    tx
      .insertInto('export_records')
      .values({
        key: 'project:1 svc.example.test 31',
        scope: 'project:1',
        body: JSON.stringify(pipelineBody),
        received_at_ns: '0',
        root_id: '31',
        root_from: 'own',
        enqueued_at_ms: enqueuedMs,
      })
      .execute(),
  )
  await db.close()
  return { run, runWith, database, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() }
}

test('list shows owner, pipeline, time and reason, of dead deliveries by default', async () => {
  await using cli = await world()
  expect(await cli.run('export-queue', 'list')).toMatchObject({
    exitCode: 0,
    stdout: `ID  SCOPE            PIPELINE  SIGNAL   STATE  ATTEMPTS  SINCE                     REASON
 3  project 7, gone  8 #2      metrics  dead          1  2026-02-03T04:06:06.000Z  gave up after 9 attempts: no answer
 1  mira/tools       31        traces   dead          1  2026-02-03T04:06:06.000Z  HTTP 401: no such token
`,
    stderr: '',
  })
  const { stdout } = await cli.run('export-queue', 'list', '--state', 'open')
  expect(stdout).toBe(`ID  SCOPE         PIPELINE  SIGNAL  STATE  ATTEMPTS  NEXT TRY                  REASON
 4  source forge  9         traces  open          0  2026-02-03T04:05:06.000Z  -
`)
  expect((await cli.run('export-queue', 'list', '--state', 'delivered')).stdout).toMatch(/^ 2 .* logs +delivered /m)
})

test('list begins with the latest, and prints the flag for the next page', async () => {
  await using cli = await world()
  const first = await cli.run('export-queue', 'list', '--limit', '1')
  expect(first.stdout.split('\n')).toMatchObject([expect.stringMatching(/^ID/), expect.stringMatching(/^ 3 /), ''])
  expect(first.stderr).toBe('… and more: --before 3\n')
  const second = await cli.run('export-queue', 'list', '--limit', '1', '--before', '3')
  expect(second.stdout).toMatch(/^ 1 /m)
  expect(second.stderr).toBe('')
})

test('show prints all details of a delivery', async () => {
  await using cli = await world()
  const { exitCode, stdout } = await cli.run('export-queue', 'show', '1')
  expect(exitCode).toBe(0)
  expect(stdout).toBe(`id        1
scope     mira/tools
instance  svc.example.test
pipeline  31
signal    traces
state     dead
enqueued  2026-02-03T04:05:06.000Z
attempts  1
dead      2026-02-03T04:06:06.000Z
reason    HTTP 401: no such token
endpoint  http://127.0.0.1:0
trace     ${createHash('sha256').update('svc-ci\n1\ntrace\nsvc.example.test\n31').digest('hex').slice(0, 32)}
`)
  // The source is not in the settings, and the record is missing.
  expect((await cli.run('export-queue', 'show', '4')).stdout).toMatch(
    /^endpoint +none: the settings do not contain source:forge any more\ntrace +-$/m,
  )
  expect(await cli.run('export-queue', 'show', '99')).toMatchObject({
    exitCode: 2,
    stderr: 'penstock: there is no delivery 99\n',
  })
})

test('replay opens dead deliveries by id or by reason, and reports the others', async () => {
  await using cli = await world()
  const { exitCode, stderr } = await cli.run('export-queue', 'replay', '1', '2')
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'replayed 1\ndelivery 2 is delivered, not dead\n' })
  expect((await cli.run('export-queue', 'list', '--state', 'open')).stdout).toMatch(/^ 1 +mira\/tools .* open +0 /m)
  const shown = (await cli.run('export-queue', 'show', '1')).stdout
  expect(shown).toMatch(/^enqueued +2026-02-03T04:05:06\.000Z\nreplayed +20(?!26-02-03T04:05:06)/m)
  const all = (reason: string) => cli.run('export-queue', 'replay', '--all', '--reason', reason)
  expect(await all('401')).toMatchObject({ exitCode: 0, stderr: 'deliveries replayed: 0\n' })
  expect(await all('Gave Up')).toMatchObject({ exitCode: 0, stderr: 'deliveries replayed: 1\n' })
  expect((await cli.run('export-queue', 'list')).stdout.split('\n')).toHaveLength(2)
})

test('drop deletes only dead deliveries by default', async () => {
  await using cli = await world()
  expect(await cli.run('export-queue', 'drop', '3')).toMatchObject({ exitCode: 0, stderr: 'dropped 3\n' })
  const four = await cli.run('export-queue', 'drop', '4')
  expect(four).toMatchObject({ exitCode: 1, stderr: 'delivery 4 is open, not dead; use --state open to drop it\n' })
  expect((await cli.run('export-queue', 'show', '3')).exitCode).toBe(2)
  expect((await cli.run('export-queue', 'show', '4')).exitCode).toBe(0)
})

test('drop deletes open deliveries if requested: by id, or all of a source', async () => {
  await using cli = await world()
  const drop = (...args: readonly string[]) => cli.run('export-queue', 'drop', ...args)
  expect(await drop('--state', 'open', '1')).toMatchObject({
    exitCode: 1,
    stderr: 'delivery 1 is dead, not open; use --state dead to drop it\n',
  })
  expect(await drop('99')).toMatchObject({ exitCode: 1, stderr: 'there is no delivery 99\n' })
  expect(await drop('--source', 'forg')).toMatchObject({ exitCode: 0, stderr: 'deliveries dropped: 0\n' })
  expect(await drop('--source', 'forge')).toMatchObject({ exitCode: 0, stderr: 'deliveries dropped: 1\n' })
  expect((await cli.run('export-queue', 'show', '4')).exitCode).toBe(2)
  await cli.run('export-queue', 'replay', '1')
  expect(await drop('--state', 'open', '1')).toMatchObject({ exitCode: 0, stderr: 'dropped 1\n' })
})

test('doctor reports a token that the forge refuses, and drop removes the runs that wait to be read', async () => {
  await using cli = await world()
  const db = openDatabase<CoreTables & ExporterTables>(cli.database)
  await db.write(async (tx) => {
    const queue = new DeliveryQueue(db, FETCH_QUEUE)
    const fetch = { key: 'k', scope: 'source:forge', reference: '{}', received_at_ns: '0', enqueued_at_ms: enqueuedMs }
    await tx.insertInto('export_run_fetches').values(fetch).execute()
    await queue.enqueue(tx, [{ key: 'k', lane: 'source:forge', subject: 'k' }], enqueuedMs)
    const refusal = { scope: 'source:forge', reason: '/repos/a/b: HTTP 401', since_ms: enqueuedMs }
    await tx.insertInto('export_token_refusals').values(refusal).execute()
  })
  await db.close()
  const source = { forge: 'github', secretToken: 'canary-secret', signals: ['traces'], apiToken: 'canary-api-token' }
  const { exitCode, stdout } = await cli.runWith({ forge: source }, 'doctor')
  expect(exitCode).toBe(1)
  expect(stdout).toContain(
    'WRONG runs of the source forge cannot be read from its forge since 2026-02-03T04:05:06.000Z: /repos/a/b: HTTP 401: replace its apiToken, ',
  )
  expect(stdout).not.toContain('canary')
  expect(await cli.run('export-queue', 'drop', '--source', 'forge')).toMatchObject({
    exitCode: 0,
    stderr: 'deliveries dropped: 2\n',
  })
})

test('doctor reports dead deliveries with the commands to list and replay them', async () => {
  await using cli = await world()
  const { exitCode, stdout } = await cli.run('doctor')
  expect(exitCode).toBe(1)
  expect(stdout).toContain(
    'WRONG 2 exports have failed permanently, 1 waits: penstock export-queue list shows the reasons; once they are fixed, run penstock export-queue replay --all\n',
  )
  await cli.run('export-queue', 'drop', '3')
  expect((await cli.run('doctor')).stdout).toContain('WRONG 1 export has failed permanently, 1 waits: ')
  await cli.run('export-queue', 'drop', '1')
  expect((await cli.run('doctor')).stdout).toMatch(/^ok +no export has failed permanently, 1 waits$/m)
})

test.each([
  [['list', '--state', 'lost'], /Allowed choices are dead, open, delivered/],
  [['show'], 'the id of one delivery is missing'],
  [['show', 'x'], 'the id of a delivery is a number'],
  [['replay'], 'the ids of deliveries are missing'],
  [['replay', '1', '--all'], '--all cannot be combined with ids'],
  [['replay', '1', '--reason', '401'], '--reason is for --all'],
  [['drop', '--all'], '--all is for replay'],
  [['drop', '--state', 'delivered', '2'], 'delivered deliveries are removed automatically'],
  [['drop', '--source', 'forge', '4'], '--source cannot be combined with ids'],
  [['list', '--source', 'forge'], '--source is for drop'],
])('refuses penstock export-queue %j in one line', async (args, about) => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.run('export-queue', ...args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
})

test('does not create a database in a directory without one', async () => {
  await using directory = await temporaryDirectory()
  const outcome = await penstock(['export-queue', 'list'], { env: { PENSTOCK_DATA_DIR: directory.path } })
  expect(outcome).toMatchObject({
    exitCode: 2,
    stderr: `penstock: there is no database ${join(directory.path, 'core.db')}; check that --data-dir (or PENSTOCK_DATA_DIR) is that of the service\n`,
  })
})

test('migrate adds the tables to an older database, which other commands do not change', async () => {
  await using directory = await temporaryDirectory()
  const run = (...args: readonly string[]) => penstock(args, { env: { PENSTOCK_DATA_DIR: directory.path } })
  await run('migrate')
  const database = new Sqlite(join(directory.path, 'core.db'))
  const tables = ['deliveries', 'export_records', 'export_pipelines', 'export_job_hooks']
  for (const table of tables) database.exec(`drop table ${table}`)
  database.exec("delete from kysely_migration where name in ('0001_deliveries', '0002_exports')")
  const lacking = /core\.db lacks 0001_deliveries, 0002_exports[:;]/
  expect(await run('export-queue', 'list')).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(lacking) })
  expect((await run('doctor')).stdout).toMatch(lacking)
  await run('migrate')
  const listed = database.prepare("select name from sqlite_master where type = 'table'").pluck().all()
  database.close()
  expect(listed).toEqual(expect.arrayContaining(tables))
  expect(await run('export-queue', 'list')).toMatchObject({ exitCode: 0 })
})
