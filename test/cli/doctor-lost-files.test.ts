import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { freePorts } from './serving.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Returns the lines about problems, after checking that the start is refused with the same text and that nothing was changed. */
async function problemsIn(dataDir: string): Promise<string[]> {
  const before = readdirSync(dataDir).toSorted()
  const { exitCode, stdout } = await penstock(['doctor', '--data-dir', dataDir], { env: freePorts })
  expect(readdirSync(dataDir).toSorted()).toEqual(before)
  const problems = stdout.split('\n').filter((line) => line.startsWith('WRONG'))
  expect(exitCode).toBe(problems.length === 0 ? 0 : 1)
  return problems
}

/** Creates the stores of a core and a gateway. */
async function createStores(dataDir: string): Promise<void> {
  expect((await penstock(['migrate', '--data-dir', dataDir])).exitCode).toBe(0)
  const created = await penstock(['api-key', 'create', '--name', 'ci', '--role', 'Admin', '--data-dir', dataDir])
  expect(created.exitCode).toBe(0)
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(['core.db', 'gateway.db', 'plane.json', 'secrets.key']))
}

const lose = (name: string) => (dataDir: string) => rmSync(join(dataDir, name))
const replace = (name: string) => (dataDir: string, other: string) =>
  copyFileSync(join(other, name), join(dataDir, name))
const write = (name: string, text: string) => (dataDir: string) => writeFileSync(join(dataDir, name), text)

test.each([
  {
    what: 'secrets.key is lost',
    change: lose('secrets.key'),
    problem:
      'DIR/secrets.key is missing, the key that the secrets in DIR/core.db are encrypted with: restore the right one',
  },
  {
    what: 'secrets.key is another one',
    change: replace('secrets.key'),
    problem: 'DIR/secrets.key is not the key that the secrets in DIR/core.db are encrypted with: restore the right one',
  },
  {
    what: 'secrets.key is damaged',
    change: write('secrets.key', 'x'),
    problem: 'DIR/secrets.key should hold a secrets key of 64 hexadecimal digits: restore the right one',
  },
  {
    what: 'core.db is lost',
    change: lose('core.db'),
    problem: 'DIR/core.db is missing or empty, but the data directory has secrets.key',
  },
  {
    what: 'gateway.db is lost',
    change: lose('gateway.db'),
    problem: 'DIR/gateway.db is missing or empty, but the data directory has plane.json (last mode: off)',
  },
  {
    what: 'plane.json is that of another store',
    change: replace('plane.json'),
    problem: 'DIR/gateway.db belongs to another gateway than plane.json of the data directory',
  },
  {
    what: 'plane.json is damaged',
    change: write('plane.json', '{'),
    problem: 'DIR/plane.json is damaged: remove it if the gateway store is the right one',
  },
])('doctor says what to do if $what', async ({ change, problem }) => {
  await using directory = await temporaryDirectory()
  await using other = await temporaryDirectory()
  await createStores(directory.path)
  await createStores(other.path)
  expect(await problemsIn(directory.path)).toEqual([])

  change(directory.path, other.path)
  const problems = await problemsIn(directory.path)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(problem.replaceAll('DIR', directory.path))
  const start = await penstock(['serve', 'all', '--data-dir', directory.path], { env: freePorts })
  expect(start.exitCode).toBe(2)
})

test('doctor names a repository with a lost directory, and how requests are answered until it is back', async () => {
  await using directory = await temporaryDirectory()
  await createStores(directory.path)
  const database = new Sqlite(join(directory.path, 'core.db'))
  database.prepare('insert into repository_directories (repository, directory) values (?, ?)').run('7', '7-0f6d')
  database.close()
  expect(await problemsIn(directory.path)).toEqual([
    `WRONG the repository 7 is damaged: ${join(directory.path, 'repositories/7-0f6d.git')} is missing: ` +
      'put the directory back from a backup; until then, requests that read or change it get 503',
  ])
})

test('doctor does not print the key', async () => {
  await using directory = await temporaryDirectory()
  await createStores(directory.path)
  const key = readFileSync(join(directory.path, 'secrets.key'), 'utf8').trim()
  const { stdout } = await penstock(['doctor', '--data-dir', directory.path], { env: freePorts })
  expect(stdout).not.toContain(key)
})
