import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
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
  const run = (args: readonly string[], stdin = '') => penstock(args, { env, stdin })
  return { path: directory.path, run, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() }
}

const newUser = ['user', 'create', '--username', 'mira', '--email', 'mira@example.test'] as const

test('a user is made with the password from standard input, which is kept as argon2id', async () => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.run(newUser, 'correct horse\n')
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: 'created user mira with id 1\n' })
  const database = new Sqlite(join(cli.path, 'core.db'), { readonly: true })
  const row = database.prepare('select username, is_admin, password_hash from users').get() as Record<string, unknown>
  database.close()
  expect(row).toMatchObject({ username: 'mira', is_admin: 0, password_hash: expect.stringMatching(/^\$argon2id\$/) })
})

test.each([
  ['', /the password is read from standard input/],
  ['short', /password/],
])('a password %j is refused in one line', async (password, about) => {
  await using cli = await world()
  const { exitCode, stderr } = await cli.run(newUser, password)
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
})

test('a name that is taken is refused', async () => {
  await using cli = await world()
  await cli.run(newUser, 'correct horse')
  const { exitCode, stderr } = await cli.run(newUser, 'correct horse')
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^penstock: .*taken.*\n$/)
})

test('an application: id and secret on standard output, a line each, and the secret nowhere else', async () => {
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

test('migrate makes the tables, and again changes nothing', async () => {
  await using cli = await world()
  for (let time = 0; time < 2; time += 1) {
    expect(await cli.run(['migrate'])).toMatchObject({
      exitCode: 0,
      stderr: 'the database of the core is up to date\n',
    })
  }
})

test('backup copies what there is into a new directory, and nothing over an old one', async () => {
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

test('doctor finds nothing wrong where nothing is, and changes nothing', async () => {
  await using cli = await world()
  const { exitCode, stdout } = await cli.run(['doctor'])
  expect(exitCode).toBe(0)
  expect(stdout).not.toContain('WRONG')
  expect(existsSync(join(cli.path, 'core.db'))).toBe(false)
})

test('doctor names a key that others may read, and how to mend it', async () => {
  await using cli = await world()
  await cli.run(['migrate'])
  const key = join(cli.path, 'secrets.key')
  chmodSync(key, 0o644)
  const { exitCode, stdout } = await cli.run(['doctor'])
  expect(exitCode).toBe(1)
  expect(stdout).toContain(`WRONG others on this machine may read ${key}: chmod 600 ${key}\n`)
})
