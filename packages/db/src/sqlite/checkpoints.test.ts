import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type CheckpointOptions, Checkpoints } from './checkpoints.ts'

let directory: string
let file: string
let database: Sqlite.Database
let checkpoints: Checkpoints

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-db-'))
  file = join(directory, 'test.db')
  database = new Sqlite(file)
  database.pragma('journal_mode = WAL')
  database.exec('create table notes (text text)')
})

afterEach(async () => {
  await checkpoints.close()
  database.close()
  rmSync(directory, { recursive: true, force: true })
})

const start = (options: CheckpointOptions) => {
  checkpoints = new Checkpoints(file, database, options)
}
const limit = () => database.pragma('wal_autocheckpoint', { simple: true })
const commit = () => {
  database.exec("insert into notes values ('a note')")
  checkpoints.noteCommit()
}
test('a thread starts after many commits, and commits then copy fewer pages', async () => {
  start({ commitsBeforeThread: 3 })
  commit()
  commit()
  expect(limit()).toBe(1_000)
  commit()
  await expect.poll(limit).toBe(8_000)
})

test('the thread copies the pages of later commits into the file', async () => {
  start({ commitsBeforeThread: 1, intervalMs: 1 })
  commit()
  await expect.poll(limit).toBe(8_000)
  const before = statSync(file).size
  database.prepare('insert into notes values (?)').run('a'.repeat(1_000_000))
  expect(statSync(file).size).toBe(before)
  checkpoints.noteCommit()
  await expect.poll(() => statSync(file).size).toBeGreaterThan(before + 1_000_000)
})

test('few commits in a period start no thread', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  start({ commitsBeforeThread: 2 })
  commit()
  vi.advanceTimersByTime(10_001)
  commit()
  vi.useRealTimers()
  expect(limit()).toBe(1_000)
})

test('if the thread cannot open the file, commits copy the pages as before', async () => {
  checkpoints = new Checkpoints(join(directory, 'missing.db'), database, { commitsBeforeThread: 1 })
  commit()
  await checkpoints.close()
  expect(limit()).toBe(1_000)
})

test('copes with a file that another process locks', async () => {
  start({ commitsBeforeThread: 1, intervalMs: 1 })
  commit()
  await expect.poll(limit).toBe(8_000)
  database.exec('begin immediate')
  checkpoints.noteCommit()
  await new Promise((resolve) => setTimeout(resolve, 20))
  database.exec('commit')
  expect(limit()).toBe(8_000)
})

test('closes without a thread', async () => {
  start({})
  commit()
  await checkpoints.close()
  commit()
  expect(limit()).toBe(1_000)
})
