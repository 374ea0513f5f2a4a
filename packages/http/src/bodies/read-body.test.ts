import { silentLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type Listening, listen } from '../listening/listen.ts'
import { type Route, unguarded } from '../routes/route.ts'
import { serveRoutes } from '../routes/serve-routes.ts'
import { MalformedForm } from './malformed-form.ts'
import type { UploadedFile } from './read-multipart.ts'
import { RequestProblem } from './request-problem.ts'

const route = (method: 'POST' | 'DELETE'): Route<undefined, undefined> => ({
  method,
  path: '/things',
  access: undefined,
  body: z.unknown(),
  forms: { fileLimitBytes: 10 },
  handle: ({ body, form }) => ({
    status: 200,
    json: {
      body,
      form: form?.map(([name, value]) => [name, typeof value === 'string' ? value : fileJson(value as UploadedFile)]),
    },
  }),
})
const fileJson = ({ fileName, contentType, bytes }: UploadedFile) => [
  fileName,
  contentType,
  Buffer.from(bytes).toString(),
]

let server: Listening

beforeEach(async () => {
  const renderError = (error: unknown) => {
    if (error instanceof RequestProblem) return { status: 400, json: error.problem.kind }
    return { status: 400, json: error instanceof MalformedForm ? 'malformed' : 'bug' }
  }
  const options = { renderError, headers: {}, bodyLimitBytes: 500, log: silentLog }
  server = await listen(serveRoutes(unguarded([route('POST'), route('DELETE')]), options), {
    host: '127.0.0.1',
    port: 0,
  })
})

afterEach(() => server.close())

async function send(body: string | FormData | Blob | null, type?: string, method = 'POST'): Promise<unknown> {
  const headers = { connection: 'close', ...(type && { 'content-type': type }) }
  return (await fetch(`${server.url}/things`, { method, body, headers })).json()
}

const urlencoded = 'application/x-www-form-urlencoded'

test('reads a form for any method, with all values in order', async () => {
  expect(await send('a=1&b[]=x+y&b[]=%C3%BC&c&a=2&__proto__=z', urlencoded, 'DELETE')).toEqual({
    body: JSON.parse('{"a":["1","2"],"b[]":["x y","ü"],"c":"","__proto__":"z"}'),
    form: [
      ['a', '1'],
      ['b[]', 'x y'],
      ['b[]', 'ü'],
      ['c', ''],
      ['a', '2'],
      ['__proto__', 'z'],
    ],
  })
})

test('reads JSON on a route that accepts forms', async () => {
  expect(await send('{"a":[1]}', 'application/json')).toEqual({ body: { a: [1] } })
})

test.each([['application/json'], [urlencoded], ['multipart/form-data; boundary=x'], ['text/plain']])(
  'treats an empty body of type %s as missing',
  async (type) => {
    expect(await send(null, type)).toEqual({})
    const pieces = new ReadableStream({ start: (controller) => controller.close() })
    const init = { method: 'POST', body: pieces, duplex: 'half', headers: { 'content-type': type } } as RequestInit
    const { body } = (await (await fetch(`${server.url}/things`, init)).json()) as { body?: unknown }
    expect(body ?? {}).toEqual({})
  },
)

test('reads the fields and files of a multipart body', async () => {
  const form = new FormData()
  form.append('title', 'grün')
  form.append('file', new Blob(['0123456789'], { type: 'image/png' }), 'größe.png')
  form.append('title', 'blau')
  expect(await send(form)).toEqual({
    body: { title: ['grün', 'blau'], file: expect.anything() },
    form: [
      ['title', 'grün'],
      ['file', ['größe.png', 'image/png', '0123456789']],
      ['title', 'blau'],
    ],
  })
})

test('limits the size of a file and of a body', async () => {
  const form = new FormData()
  form.append('file', new Blob(['01234567890']), 'x')
  expect(await send(form)).toBe('body_too_large')
  expect(await send('a'.repeat(501), urlencoded)).toBe('body_too_large')
})

test.each([
  ['a=%ff', urlencoded],
  ['a=1', 'multipart/form-data'],
  ['--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1', 'multipart/form-data; boundary=x'],
  ['--x\r\nContent-Disposition: form-data; name=""\r\n\r\n1\r\n--x--\r\n', 'multipart/form-data; boundary=x'],
  ['--x\r\nContent-Disposition: form-data; filename="a"\r\n\r\n1\r\n--x--\r\n', 'multipart/form-data; boundary=x'],
  [
    '--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=none\r\n\r\n1\r\n--x--\r\n',
    'multipart/form-data; boundary=x',
  ],
])('rejects %j as %s as malformed', async (body, type) => {
  expect(await send(new Blob([body]), type)).toBe('malformed')
})

test('rejects any other media type', async () => {
  expect(await send('a', 'text/plain')).toBe('unsupported_media_type')
})
