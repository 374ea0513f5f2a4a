import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CoreTables, getUser, insertProject } from '@penstock/core'
import { openDatabase } from '@penstock/db'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

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
  const run = (args: readonly string[], stdin = '', more: Readonly<Record<string, string>> = {}) =>
    penstock(args, { env: { ...env, ...more }, stdin })
  return { path: directory.path, run, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() }
}

const newUser = ['user', 'create', '--username', 'mira', '--email', 'mira@example.test'] as const

test('a user is created with the password from standard input, which is stored as argon2id', async () => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.run(newUser, 'correct horse\n')
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: 'created user mira with id 1\n' })
  const database = new Sqlite(join(cli.path, 'core.db'), { readonly: true })
  const row = database.prepare('select username, is_admin, password_hash from users').get() as Record<string, unknown>
  database.close()
  expect(row).toMatchObject({ username: 'mira', is_admin: 0, password_hash: expect.stringMatching(/^\$argon2id\$/) })
})

test.each([
  ['', /standard input is empty/],
  ['short', /password/],
])('a password %j is refused with one line', async (password, about) => {
  await using cli = await world()
  const { exitCode, stderr } = await cli.run(newUser, password)
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
})

test.each([
  [['user', 'list'], /invalid for argument 'action'. Allowed choices are create\./],
  [['oauth-app', 'list'], /invalid for argument 'action'. Allowed choices are create, rotate-key\./],
  [
    ['token', 'create', '--kind', 'job', '--project', 'a', '--user', 'b', '--job', 'x'],
    /--job must be the id of a job/,
  ],
  [['user', 'create', '--username', 'mira'], /^penstock: --email is missing/],
  [['oauth-app', 'create', '--name', 'x'], /^penstock: --redirect-uri is missing/],
  [['oauth-app', 'create', '--name', 'x', '--redirect-uri', 'x'], /^penstock: redirect-uri must be an absolute URI/],
])('penstock %j is refused with one line that names the flags of the command', async (args, about) => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.run(args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
})

test('a username in use is refused', async () => {
  await using cli = await world()
  await cli.run(newUser, 'correct horse')
  const { exitCode, stderr } = await cli.run(newUser, 'correct horse')
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^penstock: .*taken.*\n$/)
})

test('creating an application prints id and secret on standard output, one line each, and the secret nowhere else', async () => {
  await using cli = await world()
  const { exitCode, stdout } = await cli.run([
    ...['oauth-app', 'create', '--name', 'dashboard', '--redirect-uri', 'https://dash.example.test/cb'],
    ...['--scopes', 'read_api'],
  ])
  expect(exitCode).toBe(0)
  const [, secret] = /^[0-9a-f]{64}\n(svcoas-[0-9a-f]{64})\n$/.exec(stdout)!
  const database = new Sqlite(join(cli.path, 'core.db'), { readonly: true })
  const rows = JSON.stringify(database.prepare('select * from oauth_applications').all())
  database.close()
  expect(rows).toContain('dashboard')
  expect(rows).not.toContain(secret)
})

test('a new key for ID tokens is stored encrypted, and its id is printed', async () => {
  await using cli = await world()
  const first = await cli.run(['oauth-app', 'rotate-key'])
  const second = await cli.run(['oauth-app', 'rotate-key'])
  expect(second.stdout).toMatch(/^[\w-]{43}\n$/)
  const database = new Sqlite(join(cli.path, 'core.db'), { readonly: true })
  const rows = database
    .prepare('select kid, sealed_private_jwk, retired_at_ms from oauth_signing_keys order by id')
    .all()
  database.close()
  expect(rows).toEqual([
    { kid: first.stdout.trim(), sealed_private_jwk: expect.stringMatching(/^v1\./), retired_at_ms: expect.any(Number) },
    { kid: second.stdout.trim(), sealed_private_jwk: expect.stringMatching(/^v1\./), retired_at_ms: null },
  ])
})

/** Creates a project `mira/tools` for the created user. */
async function makeProject(path: string): Promise<void> {
  const db = openDatabase<CoreTables>(join(path, 'core.db'))
  await db.write(async (tx) => {
    const context = { db: tx, nowMs: Date.UTC(2026, 1, 3) }
    const parent = await getUser(context, 1)
    await insertProject(context, { parent, path: 'tools', name: 'tools', visibility: 'private' })
  })
  await db.close()
}

test('a job token is printed on standard output, is valid for one project and user, and ends when it is revoked', async () => {
  await using cli = await world()
  await cli.run(newUser, 'correct horse')
  await makeProject(cli.path)
  const create = ['token', 'create', '--kind', 'job', '--project', 'mira/tools', '--user'] as const
  const { exitCode, stdout, stderr } = await cli.run([...create, 'Mira'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'created job token 1 of mira in mira/tools\n' })
  expect(stdout).toMatch(/^svccbt-[0-9A-Za-z]{43}\n$/)
  expect(await cli.run([...create.slice(0, 4), '--project', '1', '--user', '1'])).toMatchObject({ exitCode: 0 })
  expect(await cli.run(['token', 'revoke', '2', '--kind', 'job'])).toMatchObject({
    exitCode: 0,
    stderr: 'revoked job token 2\n',
  })
  const database = new Sqlite(join(cli.path, 'core.db'), { readonly: true })
  const rows = database.prepare('select project_id, user_id, digest, revoked_at_ms from job_tokens order by id').all()
  database.close()
  const digest = createHash('sha256').update(stdout.trim()).digest('hex')
  expect(rows).toEqual([
    { project_id: 1, user_id: 1, digest, revoked_at_ms: null },
    { project_id: 1, user_id: 1, digest: expect.not.stringMatching(digest), revoked_at_ms: expect.any(Number) },
  ])
  expect(existsSync(join(cli.path, 'gateway.db'))).toBe(false)
})

test.each([
  [['create', '--kind', 'job', '--user', 'mira'], '--kind job needs --project and --user'],
  [['create', '--kind', 'job', '--project', 'mira/tools', '--user', 'noor'], 'there is no such user'],
  [['create', '--kind', 'job', '--project', 'mira/none', '--user', 'mira'], 'there is no such project'],
  [['list', '--kind', 'job'], 'job tokens support create and revoke, not list'],
  [['revoke', '--kind', 'job'], 'name the token to revoke by the number that create printed'],
  [['revoke', '7', '--kind', 'job'], 'there is no such record'],
  [['create', '--name', 'ci', '--user', 'mira'], '--project and --user are for --kind job'],
])('penstock token %j: %s', async (args, sentence) => {
  await using cli = await world()
  await cli.run(newUser, 'correct horse')
  const { exitCode, stdout, stderr } = await cli.run(['token', ...args])
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: '', stderr: `penstock: ${sentence}\n` })
})

test('migrate creates the tables, and a second run changes nothing', async () => {
  await using cli = await world()
  for (let time = 0; time < 2; time += 1) {
    expect(await cli.run(['migrate'])).toMatchObject({
      exitCode: 0,
      stderr: 'the database of the core is up to date\n',
    })
  }
})

test('backup copies the databases into a new directory, and refuses an existing one', async () => {
  await using cli = await world()
  await cli.run(newUser, 'correct horse')
  await cli.run(['token', 'create', '--name', 'ci'])
  const to = join(cli.path, 'copy')
  expect(await cli.run(['backup', to])).toMatchObject({ exitCode: 0 })
  const copy = new Sqlite(join(to, 'core.db'), { readonly: true })
  expect(copy.prepare('select username from users').all()).toEqual([{ username: 'mira' }])
  copy.close()
  expect(existsSync(join(to, 'gateway.db'))).toBe(true)
  expect(await cli.run(['backup', to])).toMatchObject({ exitCode: 2, stderr: `penstock: ${to} exists already\n` })
})

test('doctor finds no errors in an empty place, and changes nothing', async () => {
  await using cli = await world()
  const { exitCode, stdout } = await cli.run(['doctor'])
  expect(exitCode).toBe(0)
  expect(stdout).not.toContain('WRONG')
  expect(existsSync(join(cli.path, 'core.db'))).toBe(false)
})

test('doctor names a key that others may read, and the command that fixes it', async () => {
  await using cli = await world()
  await cli.run(['migrate'])
  const key = join(cli.path, 'secrets.key')
  chmodSync(key, 0o644)
  const { exitCode, stdout } = await cli.run(['doctor'])
  expect(exitCode).toBe(1)
  expect(stdout).toContain(`WRONG others on this machine may read ${key}: chmod 600 ${key}\n`)
})

test('doctor does not change any file', async () => {
  await using cli = await world()
  await cli.run(newUser, 'correct horse')
  const content = () => readdirSync(cli.path).map((name) => [name, readFileSync(join(cli.path, name)).toString('hex')])
  const before = content()
  expect((await cli.run(['doctor'])).stdout).toMatch(/^ok +\S+core\.db is up to date: its schema is \w+$/m)
  expect(content()).toEqual(before)
})

test('doctor reads a database that is in use', async () => {
  await using cli = await world()
  await cli.run(['migrate'])
  const inUse = new Sqlite(join(cli.path, 'core.db'))
  inUse.prepare('delete from kysely_migration where name = (select max(name) from kysely_migration)').run()
  expect((await cli.run(['doctor'])).stdout).toMatch(/^note +\S+core\.db lacks \d[\dT]{3,}_\w+; the next start/m)
  inUse.close()
})

test.each([
  ['http://svc.example.test', 1, /^WRONG http:\/\/svc\.example\.test sends passwords and tokens in clear text: /m],
  ['https://svc.example.test', 0, /^ok +generated URLs start with https:/m],
  ['http://localhost:8080', 0, /^ok +generated URLs start with http:/m],
  ['http://[::1]:8080', 0, /^ok +generated URLs start with http:/m],
])('doctor on the URL %s, behind a proxy or not', async (url, exitCode, about) => {
  await using cli = await world()
  const outcome = await cli.run(['doctor'], '', { PENSTOCK_EXTERNAL_URL: url })
  chmodSync(cli.path, 0o700)
  expect(outcome.stdout).toMatch(about)
  expect(outcome.exitCode).toBe(exitCode)
})

test('doctor and other commands do not migrate the tables of an older version, because its service may be running', async () => {
  await using cli = await world()
  await cli.run(['migrate'])
  const database = new Sqlite(join(cli.path, 'core.db'))
  database.exec("create table kept as select * from kysely_migration; delete from kysely_migration where name > '0001'")
  database.exec("insert into kysely_migration select * from kept where name like '0001%'")
  database.close()
  const { exitCode, stdout, stderr } = await cli.run(newUser, 'correct horse')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(
    /^penstock: \S+core\.db lacks 0002_tokens, .*: stop the older service, then run penstock migrate\n$/,
  )
})

test.each([
  [['serve', 'core']],
  [['migrate']],
  [['user', 'create', '--username', 'mira', '--email', 'm@example.test']],
])('an unreachable PostgreSQL is reported with one line by %j', async (args) => {
  await using cli = await world()
  const outcome = await cli.run(args, 'correct horse', {
    PENSTOCK_DATABASE_URL: 'postgres://keeper:open-sesame@127.0.0.1:1/core',
  })
  expect(outcome).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr:
      'penstock: cannot use the database of PENSTOCK_DATABASE_URL: The database cannot be reached (ECONNREFUSED)\n',
  })
})
