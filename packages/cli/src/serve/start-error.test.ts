import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import { openPostgres } from '@penstock/db'
import { expect, test } from 'vitest'
import { UsageError } from '../process/environment.ts'
import { readSettings } from '../settings/read-settings.ts'
import { startErrorOf } from './start-error.ts'
import { WorkerFailed } from './workers.ts'

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

test('reports a port that is in use', async () => {
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

test('reports a database that goes away during the start', async () => {
  const db = openPostgres<{ notes: { id: number } }>('postgres://127.0.0.1:1/none')
  const error = await errorOf(() => db.read.selectFrom('notes').select('id').execute())
  await db.close()
  expect(startErrorOf(error)).toEqual(new UsageError('The database cannot be reached (ECONNREFUSED)'))
})

test('reports a missing file, and a file without a certificate', async () => {
  expect(startErrorOf(await errorOf(() => readFile('/nowhere/cert.pem')))).toEqual(
    new UsageError('cannot read /nowhere/cert.pem: no such file or directory'),
  )
  const noCertificate = startErrorOf(await errorOf(() => createSecureContext({ cert: 'no PEM', key: 'no PEM' })))
  expect(noCertificate?.message).toMatch(/^cannot use certificate and key: [^\n]+$/)
})

test('passes on the error of a worker, and usage errors', () => {
  expect(startErrorOf(new WorkerFailed('cannot read x'))).toEqual(new UsageError('cannot read x'))
  const usage = new UsageError('unknown setting')
  expect(startErrorOf(usage)).toBe(usage)
})

test('returns undefined for a bug', () => {
  expect(startErrorOf(new TypeError('x is not a function'))).toBeUndefined()
  expect(startErrorOf(undefined)).toBeUndefined()
})
