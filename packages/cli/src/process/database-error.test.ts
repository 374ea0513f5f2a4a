import { readFile } from 'node:fs/promises'
import { NewerVersionError } from '@penstock/gateway'
import { expect, test } from 'vitest'
import { requireUsable } from './database-error.ts'
import { UsageError } from './environment.ts'

test('reports a database that cannot be opened', async () => {
  expect(await requireUsable('x.db', Promise.resolve('open'))).toBe('open')
  const damaged = Object.assign(new Error('file is not a database'), { code: 'SQLITE_NOTADB' })
  await expect(requireUsable('x.db', Promise.reject(damaged))).rejects.toThrow(
    new UsageError('cannot use x.db: file is not a database'),
  )
  await expect(requireUsable('x.db', Promise.reject(new NewerVersionError('a newer version')))).rejects.toThrow(
    new UsageError('cannot use x.db: a newer version'),
  )
  await expect(requireUsable('/nowhere/x.db', readFile('/nowhere/x.db'))).rejects.toBeInstanceOf(UsageError)
})

test('rethrows a bug in the code that opens a database', async () => {
  const bug = new TypeError('x is not a function')
  await expect(requireUsable('x.db', Promise.reject(bug))).rejects.toBe(bug)
})
