import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@penstock/db'
import type { Incoming } from '@penstock/http'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { renderError, toTooLargeError } from './error-answers.ts'

const answerFor = (error: unknown) => {
  const { status, headers, json } = renderError(error, { requestId: 'r' } as Incoming) as {
    status: number
    headers: Record<string, string>
    json: { error: { code: string } }
  }
  return [status, json.error.code, headers['Retry-After']]
}

function temporaryFile(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-errors-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'some.db')
  writeFileSync(file, content)
  return file
}

function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test('answers 503 when the store cannot be read', () => {
  const file = temporaryFile('x'.repeat(4_096))
  expect(answerFor(thrownBy(() => openSqlite(file)))).toEqual([503, 'store_unavailable', '2'])
})

test('the error for an answer that is too large names the limit of that answer', () => {
  const { message, details } = toTooLargeError({ maxBytes: 32 * 1024 * 1024, member: 'spans', nextCursor: 'c' })
  expect(message).toBe("The answer would be larger than 32 MiB because of 'spans'.")
  expect(details).toEqual({ member: 'spans', next_cursor: 'c' })
})

test('answers 500 when a query is invalid', async () => {
  const db = openSqlite(temporaryFile(''))
  onTestFinished(() => db.close())
  const error = await sql`select from`.execute(db.read).catch((failure: unknown) => failure)
  expect(answerFor(error)).toEqual([500, 'internal', undefined])
})

test.each(['ENOENT', 'ERR_STREAM_DESTROYED', 'EPIPE', 'ABCDE'])('answers 500 for the error code %s', (code) => {
  expect(answerFor(Object.assign(new Error('x'), { code }))).toEqual([500, 'internal', undefined])
})
