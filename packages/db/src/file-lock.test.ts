import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
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
  const first = lockFile(file)
  expect(lockFile(file)).toEqual({ kind: 'held', processId: process.pid })
  expect(lockFile(file)).toEqual({ kind: 'held', processId: process.pid })
  release(first)
  const second = lockFile(file)
  expect(second.kind).toBe('taken')
  release(second)
})

test('a file that is something else stays as it is', () => {
  const file = place()
  writeFileSync(file, 'a poem of some length, which nobody wants to lose to a lock that has the same name as it')
  expect(() => lockFile(file)).toThrow('file is not a database')
})
