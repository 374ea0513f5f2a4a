import { expect, test } from 'vitest'
import { finished, penstock, startPenstock } from '../command-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function world() {
  const directory = await temporaryDirectory()
  const env = { PENSTOCK_DATA_DIR: directory.path }
  const token = (args: readonly string[], stdin = '') => penstock(['token', ...args], { env, stdin })
  const created = async (name: string) =>
    /created token (\w+)/.exec((await token(['create', '--name', name])).stderr)![1]!
  return { directory, env, token, created, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() }
}

test('A-4: create prints only the token on standard output, and its description on standard error', async () => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.token(['create', '--name', 'ci-runners'])
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^psin_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/)
  expect(stderr).toBe(`created token ${stdout.slice(5, 17)}\n`)
})

test('a shell can store the token from a separate process', async () => {
  await using cli = await world()
  const { exitCode, stdout } = await finished(startPenstock(['token', 'create', '--name', 'x'], cli.env))
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^psin_\w{62}\n$/)
})

test('a name in use causes a warning on standard error', async () => {
  await using cli = await world()
  await cli.created('twice')
  const { exitCode, stdout, stderr } = await cli.token(['create', '--name', 'twice'])
  expect([exitCode, stdout.split('\n').length]).toEqual([0, 2])
  expect(stderr).toMatch(/^penstock: warning: .*name.*\ncreated token \w+\n$/)
})

test('list shows the tokens without secrets', async () => {
  await using cli = await world()
  const { stdout: secret } = await cli.token([
    ...['create', '--name', 'ci-runners', '--signals', 'traces, logs', '--tenant', 'blue'],
    ...['--expires-at', '2099-01-01T00:00:00Z'],
  ])
  const gone = await cli.created('gone')
  await cli.token(['revoke', gone])
  const { exitCode, stdout } = await cli.token(['list'])
  expect(exitCode).toBe(0)
  const [head, ...rows] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/))
  expect(head).toEqual(['ID', 'NAME', 'STATUS', 'SIGNALS', 'EXPIRES', 'LAST USED'])
  expect(rows).toEqual([
    [gone, 'gone', 'revoked', 'traces,metrics,logs,profiles', '-', '-'],
    [secret.slice(5, 17), 'ci-runners', 'valid', 'traces,logs', '2099-01-01T00:00:00Z', '-'],
  ])
  expect(stdout).not.toContain(secret.slice(18, 40))
})

test('names cannot send control characters to a terminal', async () => {
  await using cli = await world()
  const refused = await cli.token(['create', '--name', 'a\u001b[31mb'])
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).not.toContain('\u001b')
})

test('T-16: rotate prints a new token and the time until which the old one is valid', async () => {
  await using cli = await world()
  const id = await cli.created('ci')
  const { exitCode, stdout, stderr } = await cli.token(['rotate', id, '--overlap', '0'])
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^psin_\w{62}\n$/)
  expect(stderr).toMatch(new RegExp(`^created token \\w{12}; ${id} works until \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z\\n$`))
})

test.each([
  [['create'], /name/],
  [['create', '--name', ''], /name/],
  [['create', '--name', 'x', '--signals', 'traces,smells'], /signals/],
  [['create', '--name', 'x', '--expires-at', 'tomorrow'], /expires_at/],
  [['create', '--name', 'x', '--expires-at', '2001-01-01T00:00:00Z'], /expires_at/],
  [['create', '--name', 'x', '--tenant', 'a b'], /tenant/],
  [['rotate'], /the id of a token is missing/],
  [['revoke'], /the id of a token is missing/],
  [['revoke', 'A00000000000'], /no gateway store/],
  [['rotate', 'A00000000000'], /no gateway store/],
  [['list'], /no gateway store/],
  [['rotate', 'A00000000000', '--overlap', '-1'], /overlap/],
  [['rotate', 'A00000000000', '--overlap', '2592001'], /overlap.* from 0 to 2592000/],
  [['import', '--name', 'short'], /token/],
  [['destroy'], /destroy/],
  [[], /action/],
  [['create', '--naem', 'x'], /--naem/],
] as const)('%j is one line and exit 2', async (args, about) => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.token(args, 'too-short')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
  expect(stderr).not.toContain('too-short')
})

test('an unknown token', async () => {
  await using cli = await world()
  await cli.created('ci')
  for (const action of ['revoke', 'rotate']) {
    const { exitCode, stderr } = await cli.token([action, 'A00000000000'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^penstock: [^\n]*token[^\n]*\n$/)
  }
})

test('an unusable data directory and an invalid database are reported with one line', async () => {
  await using cli = await world()
  const file = await cli.directory.file('gateway.db', 'x'.repeat(8_192))
  expect(await cli.token(['list'])).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: `penstock: cannot use ${file}: file is not a database\n`,
  })
  expect(await cli.token(['create', '--name', 'x', '--data-dir', `${file}/below`])).toMatchObject({
    exitCode: 2,
    stderr: `penstock: cannot use the data directory ${file}/below: not a directory\n`,
  })
})
