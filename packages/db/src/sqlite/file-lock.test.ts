import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { type FileLock, lockFile } from './file-lock.ts'

function newLockPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'state.lock')
}

function release(lock: FileLock): void {
  if (lock.kind === 'held') throw new Error('the lock is held by another process')
  lock.release()
}

test('one process holds the lock, and others get its process id', () => {
  const file = newLockPath()
  // Represents another process that holds the lock.
  const first = new Sqlite(file).exec('pragma user_version = 4242; begin immediate')
  expect(lockFile(file)).toEqual({ kind: 'held', processId: 4_242 })
  expect(lockFile(file)).toEqual({ kind: 'held', processId: 4_242 })
  first.close()
  const second = lockFile(file)
  expect(second.kind).toBe('acquired')
  expect(lockFile(file)).toEqual({ kind: 'held', processId: process.pid })
  release(second)
})

test('reports no process id if a reader blocks the lock for too long', () => {
  const file = newLockPath()
  release(lockFile(file))
  const reader = new Sqlite(file).exec('begin; select * from sqlite_schema')
  expect(lockFile(file)).toEqual({ kind: 'held', processId: undefined })
  reader.close()
  release(lockFile(file))
})

test('rejects a file that is not a lock file', () => {
  const file = newLockPath()
  writeFileSync(file, 'some text of a user that happens to have the name of the lock, and that must not be overwritten')
  expect(() => lockFile(file)).toThrow('file is not a database')
})
