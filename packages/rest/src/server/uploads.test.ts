import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unscopedSteps } from '@penstock/core'
import { TooManyUploads } from '@penstock/http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { renderError } from '../routing/error-response.ts'
import { restOpenApi } from '../routing/openapi.ts'
import { type Area, route } from '../routing/route.ts'
import { RestServer } from './rest-server.harness.ts'

const storedFile = z.object({
  fileName: z.string(),
  contentType: z.string(),
  path: z.string(),
  size: z.int(),
})
const attach = unscopedSteps(
  { name: 'attach', input: z.object({ branch: z.string().optional(), file: storedFile }) },
  async (_, { branch, file: { path, ...file } }) => ({ ...file, branch, text: readFileSync(path, 'utf8') }),
)
const fields = { fileName: z.string(), contentType: z.string(), size: z.int(), branch: z.string(), text: z.string() }
const shape = { schema: z.object(fields).meta({ id: 'Attachment' }), of: (value: object) => value }
const area: Area = {
  tag: 'Attachments',
  routes: [
    route({
      method: 'POST',
      path: '/attachments',
      operation: attach,
      summary: 'Attach',
      shape,
      filesOnDisk: true,
      fileLimitBytes: 100_000,
    }),
  ],
}

let server: RestServer
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [area] })
  token = await server.tokenOf(await server.world.user('mira'))
})

afterEach(() => server.close())

async function send(file: Blob | string, headers: Record<string, string> = { 'private-token': token }, more = {}) {
  const body = new FormData()
  for (const [name, value] of Object.entries({ branch: 'main', ...more })) body.append(name, String(value))
  body.append('file', file as Blob)
  const reply = await fetch(`${server.url}/api/v4/attachments`, { method: 'POST', headers, body })
  return { status: reply.status, body: await reply.json() }
}
const remaining = () => {
  const directory = join(server.world.directory, 'uploads-in-progress')
  return existsSync(directory) ? readdirSync(directory) : []
}

test('an operation reads an uploaded file from the disk, and the file is removed after the answer', async () => {
  const file = new File(['ü'.repeat(20_000)], 'map.svg', { type: 'image/svg+xml' })
  const expected = { fileName: 'map.svg', contentType: 'image/svg+xml', size: 40_000, branch: 'main' }
  expect(await send(file)).toEqual({ status: 201, body: { ...expected, text: 'ü'.repeat(20_000) } })
  await expect.poll(remaining).toEqual([])
})

test('a file beyond the limit, a text instead of a file, and a caller without a credential are rejected', async () => {
  const large = new File(['x'.repeat(100_001)], 'map.png')
  expect(await send(large)).toEqual({ status: 413, body: { message: '413 Request Entity Too Large' } })
  expect(await send('text')).toEqual({ status: 400, body: { error: 'file is invalid' } })
  expect(await send(new File(['x'], 'a.png'), {})).toEqual({ status: 401, body: { message: '401 Unauthorized' } })
  expect(await send(large, {})).toEqual({ status: 401, body: { message: '401 Unauthorized' } })
  await expect.poll(remaining).toEqual([])
})

test('a request cannot name a file of the server as if it had uploaded it', async () => {
  const secret = { fileName: 'a', contentType: 'text/plain', path: '/etc/hostname', size: 1 }
  const json = { method: 'POST', headers: { 'private-token': token, 'content-type': 'application/json' } }
  const form = new URLSearchParams(
    Object.fromEntries(Object.entries(secret).map(([name, value]) => [`file[${name}]`, String(value)] as const)),
  )
  const snake = { file_name: 'a', content_type: 'text/plain', path: '/etc/hostname', size: 1 }
  for (const request of [
    { ...json, body: JSON.stringify({ file: secret }) },
    { ...json, body: JSON.stringify({ file: snake }) },
    { method: 'POST', headers: { 'private-token': token }, body: form },
  ]) {
    const reply = await fetch(`${server.url}/api/v4/attachments`, request)
    expect([reply.status, await reply.json()]).toEqual([400, { error: 'file is invalid' }])
  }
})

test('a small file may come with its credential in the form', async () => {
  const sent = await send(new File(['x'], 'a.png'), {}, { private_token: token })
  expect(sent).toMatchObject({ status: 201, body: { fileName: 'a.png', text: 'x' } })
})

test('too many uploads at a time are rejected with the time to wait', () => {
  expect(renderError(new TooManyUploads(), {} as never)).toEqual({
    status: 503,
    headers: { 'Retry-After': '10' },
    json: { message: '503 Service Unavailable' },
  })
})

test('OpenAPI describes a file on the disk as a file', () => {
  const text = JSON.stringify(restOpenApi([area], 'svc'))
  expect(text).toContain('"file":{"type":"string","format":"binary"}')
})
