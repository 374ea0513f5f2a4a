import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { freePorts, serving } from './serving.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const stateOf = (managementUrl: string, key: string) =>
  fetch(`${managementUrl}/api/v1/ingest_auth/state`, { headers: { 'obs-api-key': key } }).then(({ status }) => status)

test('A-7: the first start creates an Admin key and prints it once; the key still works after a restart', async () => {
  await using directory = await temporaryDirectory()
  const env = { PENSTOCK_DATA_DIR: directory.path }
  const first = await serving([], env)
  const key = /Admin API key, shown only now: +(psak_\w+)/.exec(first.stdout.text)![1]!
  expect(await stateOf(first.managementUrl, key)).toBe(200)
  expect((await first.end()).exitCode).toBe(0)

  const second = await serving([], env)
  expect(second.stdout.text).not.toContain('psak_')
  expect(second.stdout.text).toContain('$OBS_API_KEY')
  expect(await stateOf(second.managementUrl, key)).toBe(200)
  await second.end()
})

test('A-4, A-7: a configured first key is used and never printed', async () => {
  await using directory = await temporaryDirectory()
  const given = 'the-key-that-the-operator-has-chosen'
  const { stdout, managementUrl, end } = await serving([], {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_OBS_API_KEY: given,
  })
  expect(await stateOf(managementUrl, given)).toBe(200)
  const outcome = await end()
  expect(stdout.text + outcome.stderr).not.toContain(given)
})

test('without an upstream, telemetry goes to the embedded store, and the start prints it', async () => {
  await using directory = await temporaryDirectory()
  const { stdout, end } = await serving([], { PENSTOCK_DATA_DIR: directory.path })
  expect(stdout.text).toContain('No upstream is set: telemetry goes to the embedded store')
  await end()
})

test('settings are read from a file, variables override it, and --data-dir overrides both', async () => {
  await using directory = await temporaryDirectory()
  await using other = await temporaryDirectory()
  const config = await directory.file(
    'settings.json',
    JSON.stringify({ dataDir: '/nowhere/at/all', gateway: { upstream: 'http://127.0.0.1:9' } }),
  )
  const { stdout, end } = await serving(['gateway', '--config', config, '--data-dir', other.path], {})
  expect(stdout.text).not.toContain('No upstream is set')
  await end()
  expect((await penstock(['token', 'list', '--data-dir', other.path])).exitCode).toBe(0)
})

test('the commands that the start prints under "Try next" work', async () => {
  await using directory = await temporaryDirectory()
  const { stdout, end } = await serving([], { PENSTOCK_DATA_DIR: directory.path })
  const lines = stdout.text.split('\nTry next:\n')[1]!.split('\n')
  const commands = lines.filter((line) => line.startsWith('  ')).map((line) => `${line}; echo`)
  const run = await promisify(execFile)('bash', ['-c', commands.join('\n')])
  const [state, token, services, user] = run.stdout.split('\n').filter((line) => line !== '')
  expect(JSON.parse(state!)).toMatchObject({ enabled: false })
  expect(JSON.parse(token!)).toMatchObject({ name: 'first', token: expect.any(String) })
  expect(JSON.parse(services!)).toEqual(expect.anything())
  expect(JSON.parse(user!)).toMatchObject({ username: 'root' })
  await end()
})

test.each([
  [['everything'], {}, /everything/],
  [['--workers', '0'], {}, /workers/],
  [['--workers', 'many'], {}, /workers/],
  [['--frobnicate'], {}, /--frobnicate/],
  [['--config', '/nowhere/settings.json'], {}, /cannot read \/nowhere\/settings.json: no such file or directory/],
  [[], { PENSTOCK_TLS_CERT_FILE: 'x' }, /gateway.tlsCertFile and gateway.tlsKeyFile must be set together/],
  [
    [],
    { PENSTOCK_UPSTREAM: 'http://x', PENSTOCK_UPSTREAM_AUTHORIZATION: 'a', PENSTOCK_UPSTREAM_AUTHORIZATION_FILE: 'b' },
    /cannot be combined/,
  ],
  [['core'], { PENSTOCK_ROOT_TOKEN: 'short' }, /PENSTOCK_ROOT_TOKEN must be 20 to 256 printable characters/],
  [['core'], { PENSTOCK_DATABASE_URL: 'mysql://x' }, /PENSTOCK_DATABASE_URL must be a URL that starts with postgres:/],
  [['core'], { PENSTOCK_SERVICE_NAME: 'My Forge' }, /PENSTOCK_SERVICE_NAME must be a word of small letters/],
  [[], { PENSTOCK_OBS_API_KEY: 'short' }, /PENSTOCK_OBS_API_KEY must be 20 to 256 printable characters/],
] as const)('%j %j is one line and exit 2', async (args, env, about) => {
  await using directory = await temporaryDirectory()
  const { exitCode, stdout, stderr } = await penstock(['serve', ...args], {
    env: { ...freePorts, PENSTOCK_DATA_DIR: directory.path, ...env },
  })
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
})
