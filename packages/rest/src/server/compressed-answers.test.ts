import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { createIssue, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from './rest-server.harness.ts'

let server: RestServer
let token: string
let mira: User
let project: number
beforeEach(async () => {
  server = await RestServer.start()
  mira = await server.world.user('mira', { isAdministrator: true })
  token = await server.tokenOf(mira)
  project = (await server.world.project('tools', await server.world.group('ops'))).id
})
afterEach(() => server.close())

async function get(path: string, encoding: string | undefined) {
  const url = `${server.url}/api/v4/projects/${project}/${path}`
  const headers = { 'private-token': token, ...(encoding !== undefined && { 'accept-encoding': encoding }) }
  const [reply] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of reply) parts.push(part as Buffer)
  return { headers: reply.headers, body: Buffer.concat(parts) }
}

test('a longer answer is compressed for clients that ask for it, with the same ETag', async () => {
  const description = 'long '.repeat(100_000)
  await server.world.perform(mira, createIssue, { project, title: 'broken', description })
  const plain = await get('issues', undefined)
  const compressed = await get('issues', 'br, gzip;q=0.5')
  expect([plain.headers['content-encoding'], compressed.headers['content-encoding']]).toEqual([undefined, 'gzip'])
  expect(compressed.body.length).toBeLessThan(plain.body.length / 10)
  expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true)
  expect(compressed.headers.etag).toBe(plain.headers.etag)
  expect([plain.headers.vary, compressed.headers.vary]).toEqual(['Origin, Accept-Encoding', 'Origin, Accept-Encoding'])
  expect((await get('issues', 'gzip;q=0')).headers['content-encoding']).toBeUndefined()
})

test('short answers, and answers with secrets, are sent as they are', async () => {
  expect((await get('issues', 'gzip')).headers['content-encoding']).toBeUndefined()
  const variable = { key: 'TOKEN', value: 'x'.repeat(5_000) }
  await server.call('POST', `projects/${project}/variables`, { token, json: variable })
  const { headers, body } = await get('variables', 'gzip')
  expect([headers['content-encoding'], body.length > 5_000]).toEqual([undefined, true])
})
