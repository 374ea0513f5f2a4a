import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lockExclusively, lockShared } from './use-lock.ts'

function newLockPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'penstock.lock')
}

test('many share the lock, and the exclusive one waits for the last of them', () => {
  const file = newLockPath()
  const users = [lockShared(file), lockShared(file)]
  expect(lockExclusively(file)).toBe(undefined)
  users[0]!.release()
  expect(lockExclusively(file)).toBe(undefined)
  users[1]!.release()
  const only = lockExclusively(file)
  expect([only !== undefined, lockExclusively(file), lockShared(file)]).toEqual([true, undefined, undefined])
  only!.release()
  lockShared(file)!.release()
})

test('the file is created, and stays empty', () => {
  const file = newLockPath()
  lockShared(file)!.release()
  lockExclusively(file)!.release()
  expect([existsSync(file), statSync(file).size, existsSync(`${file}-journal`)]).toEqual([true, 0, false])
})

test('rejects a file that is not a lock file', () => {
  const file = newLockPath()
  writeFileSync(file, 'some text of a user that happens to have the name of the lock, and that must not be overwritten')
  expect(() => lockShared(file)).toThrow('file is not a database')
  expect(() => lockExclusively(file)).toThrow('file is not a database')
})
