import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import { NewerVersionError } from '@penstock/gateway'
import { expect, test } from 'vitest'
import { UsageError } from '../environment.ts'
import { readSettings } from './read-settings.ts'
import { orUnusable, startErrorOf } from './start-error.ts'
import { WorkerFailed } from './workers.ts'

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test('a port that is taken', async () => {
  const [first, second] = [createServer(), createServer()]
  await once(first.listen(0, '127.0.0.1'), 'listening')
  const { port } = first.address() as { port: number }
  second.listen(port, '127.0.0.1')
  const [error] = await once(second, 'error')
  first.close()
  const message = `cannot listen on 127.0.0.1:${port}: address already in use`
  expect(startErrorOf(error)).toEqual(new UsageError(message))
  const env = { PENSTOCK_CORE_LISTEN: `127.0.0.1:${port}` }
  expect(startErrorOf(error, readSettings(undefined, env))).toEqual(new UsageError(`${message} (PENSTOCK_CORE_LISTEN)`))
})

test('a file that is missing, and one that holds no certificate', async () => {
  expect(startErrorOf(await errorOf(() => readFile('/nowhere/cert.pem')))).toEqual(
    new UsageError('cannot read /nowhere/cert.pem: no such file or directory'),
  )
  const noCertificate = startErrorOf(await errorOf(() => createSecureContext({ cert: 'no PEM', key: 'no PEM' })))
  expect(noCertificate?.message).toMatch(/^cannot use certificate and key: [^\n]+$/)
})

test('what a worker says, and what is a usage error already', () => {
  expect(startErrorOf(new WorkerFailed('cannot read x'))).toEqual(new UsageError('cannot read x'))
  const usage = new UsageError('unknown setting')
  expect(startErrorOf(usage)).toBe(usage)
})

test('a bug is none of these, and shows where it comes from', () => {
  expect(startErrorOf(new TypeError('x is not a function'))).toBeUndefined()
  expect(startErrorOf(undefined)).toBeUndefined()
})

test('a database that cannot be opened', async () => {
  expect(await orUnusable('x.db', Promise.resolve('open'))).toBe('open')
  const damaged = Object.assign(new Error('file is not a database'), { code: 'SQLITE_NOTADB' })
  await expect(orUnusable('x.db', Promise.reject(damaged))).rejects.toThrow(
    new UsageError('cannot use x.db: file is not a database'),
  )
  await expect(orUnusable('x.db', Promise.reject(new NewerVersionError('a newer version')))).rejects.toThrow(
    new UsageError('cannot use x.db: a newer version'),
  )
  await expect(orUnusable('/nowhere/x.db', readFile('/nowhere/x.db'))).rejects.toBeInstanceOf(UsageError)
})

test('a bug in what opens a database is passed on as it is', async () => {
  const bug = new TypeError('x is not a function')
  await expect(orUnusable('x.db', Promise.reject(bug))).rejects.toBe(bug)
})
