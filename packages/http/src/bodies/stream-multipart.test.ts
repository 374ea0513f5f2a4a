import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { listen } from '../listening/listen.ts'
import { type RouteRequest, unguarded } from '../routes/route.ts'
import { serveRoutes } from '../routes/serve-routes.ts'
import type { StoredFile } from './read-multipart.ts'
import { RequestProblem } from './request-problem.ts'
import { TooManyUploads, UploadSpace } from './upload-space.ts'

const LIMIT_BYTES = 1_000_000

let directory: string
let space: UploadSpace

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-uploads-'))
  space = new UploadSpace(join(directory, 'new'), 1_500_000)
})

afterEach(() => rmSync(directory, { recursive: true }))

const remaining = () => (existsSync(join(directory, 'new')) ? readdirSync(join(directory, 'new')) : [])
/** Waits until the files of a request that has ended are removed. */
async function untilEmpty(): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (remaining().length + space.usedBytes > 0 && performance.now() < giveUpAt) await sleep(5)
  expect(remaining()).toEqual([])
  expect(space.usedBytes).toBe(0)
}

type Handle = (request: RouteRequest) => unknown

async function serve(handle: Handle): Promise<string> {
  const route = {
    method: 'POST' as const,
    path: '/files',
    access: undefined,
    body: z.unknown(),
    forms: { filesOnDisk: true as const, fileLimitBytes: LIMIT_BYTES, limitBytes: 1_000 },
    handle: async (given: RouteRequest) => ({ status: 200, json: await handle(given) }),
  }
  const renderError = (error: unknown) =>
    error instanceof RequestProblem
      ? { status: 413, json: error.problem.kind }
      : { status: error instanceof TooManyUploads ? 503 : 500, json: (error as Error).message }
  const listener = serveRoutes(unguarded([route]), { renderError, headers: {}, log: silentLog, uploads: space })
  const server = await listen(listener, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close(AbortSignal.abort()))
  return `${server.url}/files`
}

const fileIn = ({ form }: RouteRequest) => form!.find(([name]) => name === 'file')![1] as StoredFile

async function upload(url: string, size: number, fields: Record<string, string> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob([Buffer.alloc(size, 'ü')], { type: 'image/png' }), 'ü map.png')
  const reply = await fetch(url, { method: 'POST', body: form })
  return { status: reply.status, body: await reply.json() }
}

test('a file is on the disk while the request is handled, and removed afterwards', async () => {
  const url = await serve((given) => {
    const { path, ...file } = fileIn(given)
    return {
      ...file,
      content: readFileSync(path).equals(Buffer.alloc(300_000, 'ü')),
      note: given.form![0],
      count: remaining().length,
    }
  })
  const { status, body } = await upload(url, 300_000, { note: 'für' })
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      fileName: 'ü map.png',
      contentType: 'image/png',
      size: 300_000,
      content: true,
      note: ['note', 'für'],
      count: 1,
    },
  })
  await untilEmpty()
})

test('a file that the handler moves is kept', async () => {
  const kept = join(directory, 'kept.png')
  const url = await serve((given) => {
    renameSync(fileIn(given).path, kept)
    return 'moved'
  })
  expect((await upload(url, 5_000)).status).toBe(200)
  expect(readFileSync(kept)).toHaveLength(5_000)
  await untilEmpty()
})

test('files are removed if the handler fails', async () => {
  const url = await serve(() => {
    throw new Error('broken')
  })
  expect(await upload(url, 5_000)).toMatchObject({ status: 500, body: 'broken' })
  await untilEmpty()
})

test.each([
  ['of the file', LIMIT_BYTES + 1, {}],
  ['of the file by far', 4 * LIMIT_BYTES, {}],
  ['of the fields', 10, { note: 'x'.repeat(1_001) }],
  ['of the fields together', 10, { a: 'x'.repeat(600), b: 'x'.repeat(600) }],
])('beyond the limit %s, the answer is 413 and nothing is kept', async (_, size, fields) => {
  const url = await serve(() => 'handled')
  expect(await upload(url, size, fields)).toMatchObject({ status: 413, body: 'body_too_large' })
  await untilEmpty()
})

const disposition = 'Content-Disposition: form-data; name='
test.each([
  ['a field with an unknown character set', `${disposition}"a"\r\nContent-Type: text/plain; charset=none\r\n\r\n1`],
  ['a field that is not UTF-8', `${disposition}"a"\r\n\r\n\xff`],
  ['a name of a field that is not UTF-8', `${disposition}"\xff"\r\n\r\n1`],
  ['a name of a file that is not UTF-8', `${disposition}"\xff"; filename="a"\r\n\r\n1`],
  ['a file name that is not UTF-8', `${disposition}"a"; filename="\xff"\r\n\r\n1`],
])('%s is malformed', async (_, part) => {
  const url = await serve(() => 'handled')
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    body: Buffer.from(`--x\r\n${part}\r\n--x--\r\n`, 'latin1'),
  })
  expect(await reply.text()).toMatch(/not UTF-8|unknown character set/)
  await untilEmpty()
})

/** Begins an upload without its length, and returns the functions that continue it. */
function begin(url: string) {
  const outgoing = request(url, { method: 'POST', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } })
  const answered = new Promise<number | string>((resolve) => {
    outgoing.on('response', (reply) => resolve(reply.statusCode!))
    outgoing.on('error', (error) => resolve(error.message))
  })
  outgoing.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n')
  return { outgoing, answered }
}
async function untilUsed(bytes: number): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (space.usedBytes < bytes && performance.now() < giveUpAt) await sleep(5)
  expect(space.usedBytes).toBeGreaterThanOrEqual(bytes)
}

test('a file without a known length is limited too', async () => {
  const { outgoing, answered } = begin(await serve(() => 'handled'))
  for (let sent = 0; sent <= LIMIT_BYTES; sent += 100_000) outgoing.write(Buffer.alloc(100_000))
  expect(await answered).toBe(413)
  outgoing.destroy()
  await untilEmpty()
})

test('files are removed when the client goes away', async () => {
  let isHandled = false
  const { outgoing, answered } = begin(
    await serve(() => {
      isHandled = true
    }),
  )
  outgoing.write(Buffer.alloc(200_000))
  await untilUsed(200_000)
  expect(remaining()).toHaveLength(1)
  outgoing.destroy()
  await answered
  await untilEmpty()
  expect(isHandled).toBe(false)
})

test('a body that ends within a file is malformed, and nothing is kept', async () => {
  const { outgoing, answered } = begin(await serve(() => 'handled'))
  outgoing.end(Buffer.alloc(1_000))
  expect(await answered).not.toBe(200)
  await untilEmpty()
})

test('all uploads together are limited: the one beyond the limit has to be repeated later', async () => {
  const url = await serve(() => 'handled')
  const first = begin(url)
  first.outgoing.write(Buffer.alloc(900_000))
  await untilUsed(900_000)
  expect((await upload(url, 700_000)).status).toBe(503)
  expect(remaining()).toHaveLength(1)
  first.outgoing.end('\r\n--x--\r\n')
  expect(await first.answered).toBe(200)
  await untilEmpty()
  expect((await upload(url, 700_000)).status).toBe(200)
})

test('the first upload removes files that an ended process has left for a day', async () => {
  const old = new UploadSpace(join(directory, 'new'))
  await old.newPath()
  for (const name of ['stale', 'recent']) writeFileSync(join(directory, 'new', name), 'x')
  const yesterday = Date.now() / 1_000 - 25 * 3_600
  utimesSync(join(directory, 'new', 'stale'), yesterday, yesterday)
  await space.newPath()
  expect(remaining()).toEqual(['recent'])
})
