import { type Listening, listen } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { areas } from '../areas.ts'
import { type RestOptions, restListener } from '../server/serve-rest.ts'

let world: World
let server: Listening

async function serve(authenticate?: RestOptions['authenticate']) {
  const options = { core: world.core, areas, log: silentLog, ...(authenticate && { authenticate }) }
  server = await listen(restListener(options), { host: '127.0.0.1', port: 0 })
}
const get = async (path: string) => {
  const response = await fetch(`${server.url}/api/v4${path}`, { headers: { connection: 'close' } })
  return [response.status, await response.json()]
}

beforeEach(async () => {
  world = await World.open()
})

afterEach(async () => {
  await server.close()
  await world.close()
})

test('returns the version and metadata to authenticated users', async () => {
  const mira = await world.user('mira')
  await serve(async () => ({ actor: mira }))
  const version = { version: '18.5.0-penstock', revision: '0.1.0' }
  expect(await get('/version')).toEqual([200, version])
  const kas = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null }
  expect(await get('/metadata')).toEqual([200, { ...version, kas, enterprise: true }])
})

test('answers 401 to anonymous callers', async () => {
  await serve()
  expect(await get('/version')).toEqual([401, { message: '401 Unauthorized' }])
})
