import { type Core, platformNames, type User } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

let world: World
let root: User
const open: Listening[] = []

beforeAll(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
})

afterAll(async () => {
  for (const each of open) await each.close(AbortSignal.abort())
  await world.close()
})

/** Serves the API with a service name, and returns a function that reads or changes the settings. */
async function serveSettings(serviceName: string) {
  const core: Core = { ...world.core, settings: { ...world.core.settings, serviceName } }
  const listener = restListener({
    core,
    areas,
    log: silentLog,
    rateLimits: 'off',
    authenticate: async () => ({ actor: root }),
  })
  const listening = await listen(listener, { host: '127.0.0.1', port: 0 })
  open.push(listening)
  return async (json?: object) => {
    const reply = await fetch(`${listening.url}/api/v4/application/settings`, {
      method: json === undefined ? 'GET' : 'PUT',
      ...(json && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
    })
    return { status: reply.status, body: (await reply.json()) as Readonly<Record<string, unknown>> }
  }
}

test('every name of the platform is in the record of a service called gitlab, and sets its setting', async () => {
  const call = await serveSettings('gitlab')
  const { body } = await call()
  for (const [platformName, name] of Object.entries(platformNames)) {
    expect([platformName, body[platformName]]).toEqual([platformName, body[name]])
    const before = body[name]
    const other = typeof before === 'boolean' ? !before : typeof before === 'number' ? before + 1 : 'https://1.2.3.4'
    const companion = platformName.replace(/_enabled$/, '_url')
    const sentWith = companion in platformNames ? { [companion]: 'https://1.2.3.4' } : {}
    const changed = await call({ ...sentWith, [platformName]: other })
    expect([platformName, changed.status, changed.body[name], changed.body[platformName]]).toEqual([
      ...[platformName, 200, other, other],
    ])
    await call({ ...sentWith, [platformName]: before })
  }
})

test('a companion that is missing is named as the request names its settings', async () => {
  const call = await serveSettings('gitlab')
  const missing = (name: string) => ({ status: 400, body: { error: `${name} is missing` } })
  expect(await call({ kroki_enabled: true })).toEqual(missing('kroki_url'))
  expect(await call({ diagram_c_enabled: true })).toEqual(missing('diagram_c_url'))
})

test('duo_availability sets the same switches as ai_availability, and a record that is sent back changes nothing', async () => {
  const call = await serveSettings('gitlab')
  const off = await call({ duo_availability: 'default_off' })
  const { updated_at: _, ...expected } = off.body
  expect(expected).toMatchObject({ ai_availability: 'default_off', duo_features_enabled: false })
  const record = { ...(await call()).body, duo_availability: 'default_on' }
  const { duo_features_enabled, ai_features_enabled, lock_duo_features_enabled, ...sent } = record as Record<
    string,
    unknown
  >
  expect((await call(sent)).body).toMatchObject({ ai_availability: 'default_on', duo_availability: 'default_on' })
})

test('decimals are text for clients of the platform alone, and their names are not in the record of other services', async () => {
  expect((await (await serveSettings('gitlab'))()).body).toMatchObject({
    polling_interval_multiplier: '1',
    external_authorization_service_timeout: 0.5,
  })
  const { body } = await (await serveSettings('svc'))()
  expect(body.polling_interval_multiplier).toBe(1)
  expect(Object.keys(body).filter((name) => name in platformNames)).toEqual([])
})
