import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { freePorts, serving } from './serving.ts'

const adminKey = 'the-admin-key-of-this-test'
const stateUrl = (managementUrl: string) => `${managementUrl}/api/v1/ingest_auth/state`
const headers = { 'obs-api-key': adminKey, 'content-type': 'application/json' }

/** The result of a start if a file of the data directory is missing or empty: a refusal in one line, or a start in the recorded mode. */
type Expected = { readonly refuses: RegExp } | { readonly starts: true }

const startsAgain = { starts: true } as const
interface Loss {
  /** The role that uses the file; the others start faster without it. */
  readonly role: 'core' | 'gateway'
  readonly missing: Expected
  readonly empty: Expected
}
const lostFiles: Readonly<Record<string, Loss>> = {
  'core.db': {
    role: 'core',
    missing: { refuses: /core\.db is missing or empty, .* has secrets\.key, .* penstock serve --new-store/ },
    empty: { refuses: /core\.db is missing or empty/ },
  },
  'gateway.db': {
    role: 'gateway',
    missing: { refuses: /gateway\.db is missing or empty, .*plane\.json \(last mode: enforce\).* serve --new-store/ },
    empty: { refuses: /gateway\.db is missing or empty/ },
  },
  'observe.db': { role: 'gateway', missing: startsAgain, empty: startsAgain },
  'observe.lock': { role: 'gateway', missing: startsAgain, empty: startsAgain },
  'penstock.lock': { role: 'gateway', missing: startsAgain, empty: startsAgain },
  pepper: {
    role: 'gateway',
    missing: { refuses: /the file of their pepper, \S+pepper, is missing/ },
    empty: { refuses: /The pepper file is empty/ },
  },
  'plane.json': { role: 'gateway', missing: startsAgain, empty: { refuses: /plane\.json is damaged: remove it/ } },
  'secrets.key': {
    role: 'core',
    missing: { refuses: /there is no secrets\.key in .*: restore it/ },
    empty: { refuses: /secrets\.key should hold a secrets key/ },
  },
}

let fresh: string
/** The store before enforcement was switched on. */
let older: Buffer
const environmentFor = (dataDir: string) => ({
  ...freePorts,
  PENSTOCK_DATA_DIR: dataDir,
  PENSTOCK_OBS_API_KEY: adminKey,
})

beforeAll(async () => {
  fresh = mkdtempSync(join(tmpdir(), 'penstock-lost-'))
  const first = await serving([], environmentFor(fresh), { endsWithTest: false })
  await first.end()
  older = readFileSync(join(fresh, 'gateway.db'))
  const second = await serving([], environmentFor(fresh), { endsWithTest: false })
  const enforce = { method: 'PUT', headers, body: '{"enabled":true}' }
  expect((await fetch(stateUrl(second.managementUrl), enforce)).status).toBe(200)
  await second.end()
}, 60_000)
afterAll(() => rmSync(fresh, { recursive: true, force: true }))

/** Returns a copy of the fresh data directory. */
function copy(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-lost-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  cpSync(fresh, directory, { recursive: true })
  return directory
}

/** Starts and ends the service. Returns the mode of enforcement that it applied. */
async function startedMode(dataDir: string, args: readonly string[] = [], env = {}): Promise<string> {
  const { managementUrl, end } = await serving(args, { ...environmentFor(dataDir), ...env })
  const { mode } = (await (await fetch(stateUrl(managementUrl), { headers })).json()) as { mode: string }
  await end()
  return mode
}

async function refusal(dataDir: string, args: readonly string[] = []): Promise<string> {
  const { exitCode, stdout, stderr } = await penstock(['serve', ...args], { env: environmentFor(dataDir) })
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  return stderr
}

test('the table has every file of a fresh data directory', () => {
  expect(readdirSync(fresh).sort()).toEqual(Object.keys(lostFiles))
})

/** Returns the first two columns of the rows of the table of lost files in docs/guides/operations.md. */
function documentedRows(): { readonly lost: string; readonly names: readonly string[]; readonly outcome: string }[] {
  const page = readFileSync(new URL('../../docs/guides/operations.md', import.meta.url), 'utf8')
  const section = page.split('\n### Lost files\n')[1]!.split('\n#')[0]!
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:-|Lost, empty)/.test(line))
  return rows.map((row) => {
    const [, lost = '', outcome = ''] = row.split('|').map((cell) => cell.trim())
    const isWhole = /^(?:`[^`]+`(?:, )?)+$/.test(lost)
    return { lost, names: isWhole ? lost.split(', ').map((name) => name.slice(1, -1)) : [], outcome }
  })
}

test('docs/guides/operations.md says of each file whether the next start is refused', () => {
  const documented = documentedRows().flatMap(({ names, outcome }) =>
    names.map((name) => [name, outcome.startsWith('is refused')] as const),
  )
  const expected = Object.entries(lostFiles).map(([name, { missing }]) => [name, 'refuses' in missing] as const)
  // The salt exists only with peppers from a passphrase.
  expect(documented.filter(([name]) => name !== 'pepper-salt').toSorted()).toEqual(expected.toSorted())
})

/** The test of each row that is about more than a lost file: the file below `test`, and the beginning of its title. */
const otherTests: Readonly<Record<string, readonly [file: string, title: string]>> = {
  '`gateway.db` older than `plane.json`, such as a backup or a file without its `-wal`': [
    'cli/lost-files.test.ts',
    'a store from before enforcement',
  ],
  '`gateway.db` of another gateway': ['cli/lost-files.test.ts', 'the store of another gateway is refused'],
  'a directory in `repositories`': ['core/lost-repositories.test.ts', '$call says that files are missing'],
  'another `secrets.key`': ['cli/lost-files.test.ts', 'another secrets.key'],
  'a damaged `observe.db`': ['cli/lost-files.test.ts', 'a damaged observe.db stops only what reads and writes it'],
  everything: ['cli/lost-files.test.ts', 'the setting decides the mode of a new store'],
}

test('every other row of the table has a test', () => {
  const others = documentedRows().filter(({ names }) => names.length === 0)
  expect(others.map(({ lost }) => lost)).toEqual(Object.keys(otherTests))
  for (const [file, title] of Object.values(otherTests)) {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
    expect(source).toMatch(new RegExp(`^test(?:\\.each\\([^\\n]+\\))?\\('${title.replaceAll('$', '\\$')}`, 'm'))
  }
})

const cases = Object.entries(lostFiles).flatMap(([name, { role, missing, empty }]) => [
  { name, role, how: 'missing', expected: missing } as const,
  { name, role, how: 'empty', expected: empty } as const,
])

test.each(cases)('$name is $how', async ({ name, role, how, expected }) => {
  const directory = copy()
  if (how === 'missing') rmSync(join(directory, name))
  else writeFileSync(join(directory, name), '')
  if ('starts' in expected) {
    expect(await startedMode(directory, [role])).toBe('enforce')
    return
  }
  const before = readdirSync(directory)
  expect(await refusal(directory, [role])).toMatch(expected.refuses)
  // A refused start must not leave anything that lets the next one through.
  expect(readdirSync(directory)).toEqual(before)
  expect(await refusal(directory, [role])).toMatch(expected.refuses)
})

test('--new-store begins without the lost store, in the mode that was in force', async () => {
  const directory = copy()
  rmSync(join(directory, 'gateway.db'))
  expect(await startedMode(directory, ['gateway', '--new-store'])).toBe('enforce')
  expect(await startedMode(directory, ['gateway'])).toBe('enforce')
})

test('the setting decides the mode of a new store, also where only configured peppers remain', async () => {
  const directory = copy()
  for (const name of ['gateway.db', 'pepper', 'plane.json']) rmSync(join(directory, name))
  const env = { PENSTOCK_PEPPERS: `one:${Buffer.alloc(32, 1).toString('base64')}`, PENSTOCK_INITIAL_MODE: 'enforce' }
  expect(await startedMode(directory, ['gateway'], env)).toBe('enforce')
})

test('a store from before enforcement does not open the gate', async () => {
  const directory = copy()
  writeFileSync(join(directory, 'gateway.db'), older)
  expect(await startedMode(directory, ['gateway'])).toBe('enforce')
})

test('the store of another gateway is refused', async () => {
  const [directory, other] = [copy(), copy()]
  rmSync(join(other, 'gateway.db'))
  expect(await startedMode(other, ['gateway', '--new-store'])).toBe('enforce')
  renameSync(join(other, 'gateway.db'), join(directory, 'gateway.db'))
  expect(await refusal(directory, ['gateway'])).toMatch(/belongs to another gateway .*\(last mode: enforce\)/)
})

test('a damaged observe.db stops only what reads and writes it', async () => {
  const directory = copy()
  writeFileSync(join(directory, 'observe.db'), 'x'.repeat(8_192))
  const { managementUrl, stdout, end } = await serving([], environmentFor(directory))
  const otlp = /takes OTLP on (\S+)/.exec(stdout.text)![1]!
  const core = /The REST API is on (\S+)\/api\/v4,/.exec(stdout.text)![1]!
  const state = (await (await fetch(stateUrl(managementUrl), { headers })).json()) as { mode: string }
  expect(state.mode).toBe('enforce')
  expect((await fetch(`${core}/readyz`)).status).toBe(200)
  expect((await fetch(`${managementUrl}/api/v1/observe/services`, { headers })).status).toBe(503)
  const off = { method: 'PUT', headers, body: '{"enabled":false}' }
  expect((await fetch(stateUrl(managementUrl), off)).status).toBe(200)
  const sent = await fetch(`http://${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"resourceSpans":[]}',
  })
  expect(sent.status).toBe(503)
  expect((await end()).stderr).toContain('"event":"observe.database_unusable"')
})

test('a second process on the embedded store is refused', async () => {
  const directory = copy()
  const { end } = await serving(['gateway'], environmentFor(directory))
  expect(await refusal(directory)).toMatch(
    /another penstock serve \(process \d+\) uses the embedded store in \S+: stop/,
  )
  await end()
  expect(await startedMode(directory, ['gateway'])).toBe('enforce')
})

test('another secrets.key is refused', async () => {
  const directory = copy()
  writeFileSync(join(directory, 'secrets.key'), `${'5'.repeat(64)}\n`, { mode: 0o600 })
  expect(await refusal(directory, ['core'])).toMatch(/secrets\.key is not the key that the secrets in \S+core\.db/)
  expect(await refusal(directory, ['core', '--new-store'])).toMatch(/is not the key/)
})
