import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import type { RestOptions } from '../server/serve-rest.ts'

let world: World
let server: RestServer

async function serve(authenticate?: RestOptions['authenticate']) {
  server = await RestServer.start({ world, ...(authenticate && { authenticate }) })
}
const get = async (path: string) => {
  const { status, body } = await server.call('GET', path)
  return [status, body]
}

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => server.close())

test('returns the version and metadata to authenticated users', async () => {
  const mira = await world.user('mira')
  await serve(async () => ({ actor: mira }))
  const version = { version: '18.5.0-penstock', revision: '0.1.0' }
  expect(await get('version')).toEqual([200, version])
  // Clients join the URL of the API with a path that begins with a slash.
  expect(await get('/version')).toEqual([200, version])
  const kas = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null }
  expect(await get('metadata')).toEqual([200, { ...version, kas, enterprise: true }])
})

test('answers 401 to anonymous callers', async () => {
  await serve()
  expect(await get('version')).toEqual([401, { message: '401 Unauthorized' }])
})
