import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { ClickHouse, ClickHouseUnavailable, parseClickHouseUrl } from './clickhouse-client.ts'

test.each([
  ['clickhouse://ch.example', 'http://ch.example:8123', 'default', 'default', ''],
  ['clickhouse://ch.example:9001/otel', 'http://ch.example:9001', 'otel', 'default', ''],
  ['http://reader:s%2Fecret@ch.example:8123/otel', 'http://ch.example:8123', 'otel', 'reader', 's/ecret'],
  ['https://reader@ch.example/otel/', 'https://ch.example', 'otel', 'reader', ''],
])('reads %s', (text, url, database, username, password) => {
  expect(parseClickHouseUrl(text)).toEqual({ url, database, username, password })
})

test.each([
  'postgres://ch.example',
  'clickhouse:',
  'http://ch.example/a/b',
  'http://ch.example/?x=1',
  'ch.example:8123',
])('refuses %s', (text) => expect(parseClickHouseUrl(text)).toBeUndefined())

let close: (() => unknown) | undefined
afterEach(() => close?.())

/** Starts a server that always gives one answer, and returns a client for it with the requests that it got. */
async function serverWith(status: number, body: string, headers: Record<string, string> = {}) {
  const requests: { readonly url: URL; readonly authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost')
    requests.push({ url, authorization: request.headers.authorization })
    request.resume().on('end', () => response.writeHead(status, headers).end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = parseClickHouseUrl(`http://reader:hidden@127.0.0.1:${(server.address() as AddressInfo).port}/otel`)!
  const db = new ClickHouse(address, { seconds: 3, rows: 10, resultBytes: 50, memoryBytes: 1_000 })
  close = async () => {
    await db.close()
    server.close()
  }
  return { db, requests }
}

test('sends values apart from the statement, with bounds and without the right to change something', async () => {
  const { db, requests } = await serverWith(200, '{"a":"1"}\n')
  expect(await db.rows('SELECT {a:String} AS a', { a: "x' OR 1" })).toEqual([{ a: '1' }])
  const parameters = Object.fromEntries(requests[0]!.url.searchParams)
  expect(parameters).toMatchObject({
    database: 'otel',
    param_a: "x\\' OR 1",
    readonly: '2',
    max_execution_time: '3',
    max_result_rows: '10',
    max_result_bytes: '50',
    max_memory_usage: '1000',
    result_overflow_mode: 'throw',
  })
  expect(requests[0]!.authorization).toBe(`Basic ${Buffer.from('reader:hidden').toString('base64')}`)
})

test('refuses a result that is longer than its bound', async () => {
  const { db } = await serverWith(200, `{"a":"${'x'.repeat(200)}"}\n`)
  await expect(db.rows('SELECT 1')).rejects.toThrow(ClickHouseUnavailable)
})

test.each([
  ['516', 401, 'Code: 516. DB::Exception: reader: Authentication failed: hidden. (AUTHENTICATION_FAILED)', true],
  ['159', 500, 'Code: 159. DB::Exception: Timeout exceeded: elapsed 3 s. (TIMEOUT_EXCEEDED)', true],
  ['396', 500, 'Code: 396. DB::Exception: Limit for result exceeded. (TOO_MANY_ROWS_OR_BYTES)', true],
  ['62', 400, 'Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)', false],
])('error %s is a passing one or a fault, and never quotes the credential', async (code, status, text, isPassing) => {
  const { db } = await serverWith(status, text, { 'X-ClickHouse-Exception-Code': code })
  const error = await db.rows('SELECT 1').catch((reason: unknown) => reason as Error)
  expect(error instanceof ClickHouseUnavailable).toBe(isPassing)
  expect(String(error)).toContain(code)
  expect(String(error)).not.toContain('hidden')
})

test('a server that cannot be reached is unavailable', async () => {
  const db = new ClickHouse(parseClickHouseUrl('http://reader:hidden@127.0.0.1:1/otel')!)
  close = () => db.close()
  await expect(db.rows('SELECT 1')).rejects.toThrow('ClickHouse cannot be reached (ECONNREFUSED)')
})
