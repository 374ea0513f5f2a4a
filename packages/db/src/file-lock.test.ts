import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { type FileLock, lockFile } from './file-lock.ts'

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'state.lock')
}

function release(lock: FileLock): void {
  if (lock.kind === 'held') throw new Error('it is held')
  lock.release()
}

test('one at a time has it; the other hears at once who does', () => {
  const file = place()
  // As another process has it.
  const first = new Sqlite(file).exec('pragma user_version = 4242; begin immediate')
  expect(lockFile(file)).toEqual({ kind: 'held', processId: 4_242 })
  expect(lockFile(file)).toEqual({ kind: 'held', processId: 4_242 })
  first.close()
  const second = lockFile(file)
  expect(second.kind).toBe('acquired')
  expect(lockFile(file)).toEqual({ kind: 'held', processId: process.pid })
  release(second)
})

test('whoever reads it may keep us waiting too long; who he is nobody knows, and we are not the holder', () => {
  const file = place()
  release(lockFile(file))
  const reader = new Sqlite(file).exec('begin; select * from sqlite_schema')
  expect(lockFile(file)).toEqual({ kind: 'held', processId: undefined })
  reader.close()
  release(lockFile(file))
})

test('a file that is something else stays as it is', () => {
  const file = place()
  writeFileSync(file, 'a poem of some length, which nobody wants to lose to a lock that has the same name as it')
  expect(() => lockFile(file)).toThrow('file is not a database')
})
