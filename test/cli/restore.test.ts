import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { expectRestored } from '../core/restored-backup.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('after a restore, no project sees what another one had', async () => {
  await using directory = await temporaryDirectory()
  await expectRestored({ dataDir: join(directory.path, 'data') })
}, 120_000)

/** A data directory with a core and a gateway, and its backup. */
async function backedUp(path: string, ...flags: readonly string[]) {
  const env = { PENSTOCK_DATA_DIR: join(path, 'data') }
  const run = (...args: string[]) => penstock(args, { env })
  await run('migrate')
  await run('token', 'create', '--name', 'ci')
  const backup = join(path, 'backup')
  expect(await run('backup', backup, ...flags)).toMatchObject({ exitCode: 0 })
  return { dataDir: env.PENSTOCK_DATA_DIR, backup, run }
}

test('a backup is restored into an empty data directory, with its keys', async () => {
  await using directory = await temporaryDirectory()
  const { dataDir, backup, run } = await backedUp(directory.path)
  const files = ['core.db', 'gateway.db', 'pepper', 'repositories', 'secrets.key']
  expect(readdirSync(backup)).toEqual(expect.arrayContaining(['backup.json', ...files]))
  const key = readFileSync(join(dataDir, 'secrets.key'))
  rmSync(dataDir, { recursive: true })
  expect(await run('restore', backup)).toMatchObject({ exitCode: 0 })
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(files))
  expect(readFileSync(join(dataDir, 'secrets.key'))).toEqual(key)
  expect((await run('token', 'list')).stdout).toContain('ci')
  expect((await run('doctor')).stdout).not.toContain('repository ')
})

test('a backup without keys needs those of the data directory', async () => {
  await using directory = await temporaryDirectory()
  const { dataDir, backup, run } = await backedUp(directory.path, '--without-keys')
  expect(readdirSync(backup)).toEqual(expect.not.arrayContaining(['pepper', 'secrets.key']))
  expect(await run('restore', backup)).toMatchObject({ exitCode: 0 })
  const present = readdirSync(dataDir).toSorted()
  rmSync(join(dataDir, 'secrets.key'))
  const { exitCode, stderr } = await run('restore', backup)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the backup was made without keys: copy the keys')])
  expect(readdirSync(dataDir).toSorted()).toEqual(present.filter((name) => name !== 'secrets.key'))
})

/** Changes to a backup or a data directory after which nothing is restored. */
const obstacles = [
  ['is not complete', ({ backup }) => rmSync(join(backup, 'backup.json')), 'is no complete backup'],
  [
    'is of a newer version',
    ({ backup }) => writeFileSync(join(backup, 'backup.json'), '{"format":2}'),
    'newer version',
  ],
  ['is damaged', ({ backup }) => writeFileSync(join(backup, 'core.db'), 'x'.repeat(9_000)), /core\.db is damaged/],
  [
    'has another key',
    ({ backup }) => writeFileSync(join(backup, 'pepper'), `a:${Buffer.alloc(32).toString('base64')}\n`),
    /pepper/,
  ],
] as const satisfies readonly (readonly [string, (paths: { backup: string }) => void, string | RegExp])[]

test.each(obstacles)(
  'a backup that %s is refused, and the data directory stays as it is',
  async (_, damage, reason) => {
    await using directory = await temporaryDirectory()
    const { dataDir, backup, run } = await backedUp(directory.path)
    const before = readdirSync(dataDir)
    damage({ backup })
    const { exitCode, stderr } = await run('restore', backup)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(reason)])
    expect(readdirSync(dataDir)).toEqual(before)
  },
)

test('nothing starts on a data directory with a restore that was not finished, until it is repeated', async () => {
  await using directory = await temporaryDirectory()
  const { dataDir, backup, run } = await backedUp(directory.path)
  mkdirSync(join(dataDir, 'restore-in-progress'))
  for (const command of [['migrate'], ['token', 'create', '--name', 'x']]) {
    const { exitCode, stderr } = await run(...command)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('was not finished: run penstock restore again')])
  }
  expect(await run('restore', backup)).toMatchObject({ exitCode: 0 })
  expect(await run('migrate')).toMatchObject({ exitCode: 0 })
})
