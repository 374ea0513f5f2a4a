import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld

  beforeAll(async () => {
    world = await GoWorld.start()
  })

  afterAll(() => world.close())

  /** Calls with an unknown token, which reads without authentication have to ignore. */
  const asVisitor = (method: string, ...args: readonly unknown[]) => world.as('unknown-token', method, ...args)

  test('creates, lists, renews and deletes applications', async () => {
    const application = {
      name: 'Deploy board',
      redirect_uri: 'https://board.example.test/cb',
      scopes: 'api read_user',
    }
    const { status, result: made } = await world.asRoot('Applications.CreateApplication', application)
    expect(status).toBe(200)
    expect(made).toMatchObject({
      application_name: 'Deploy board',
      callback_url: 'https://board.example.test/cb',
      confidential: true,
      scopes: ['api', 'read_user'],
    })
    const { result: listed } = await world.asRoot('Applications.ListApplications', {})
    expect(listed).toMatchObject([{ id: made.id, application_id: made.application_id, secret: '' }])
    const { result: renewed } = await world.asRoot('Applications.RenewApplicationSecret', made.id)
    expect(renewed.application_id).toBe(made.application_id)
    expect([renewed.secret === '', renewed.secret === made.secret]).toEqual([false, false])
    expect(await world.asRoot('Applications.DeleteApplication', made.id)).toMatchObject({ status: 204 })
    expect(await world.asRoot('Applications.DeleteApplication', made.id)).toMatchObject({ status: 404 })
    expect(await world.asRoot('Applications.CreateApplication', { name: 'Half' })).toMatchObject({
      status: 400,
      error: '{error: redirect_uri is missing, scopes is missing, scopes is empty}',
    })
  })

  test('reads and changes the application settings by the names of its types', async () => {
    expect(await world.asRoot('Settings.GetSettings')).toMatchObject({
      status: 200,
      result: { polling_interval_multiplier: '1', gravatar_enabled: true, kroki_enabled: false },
    })
    const changes = { polling_interval_multiplier: 1.25, jira_connect_application_key: 'key', gravatar_enabled: false }
    const { status, result } = await world.asRoot('Settings.UpdateSettings', changes)
    expect([status, result]).toMatchObject([200, { ...changes, polling_interval_multiplier: '1.25' }])
  })

  test('creates, reads, changes and deletes broadcast messages', async () => {
    const message = {
      message: 'Maintenance on Sunday',
      starts_at: '2026-02-03T04:00:00Z',
      ends_at: '2026-02-03T06:00:00Z',
      font: '#FFFFFF',
      target_access_levels: [30, 40],
      target_path: '*/welcome',
      broadcast_type: 'notification',
      dismissable: true,
      theme: 'light-blue',
    }
    const { status, result: made } = await world.asRoot('BroadcastMessage.CreateBroadcastMessage', message)
    expect([status, made]).toEqual([201, { ...message, id: made.id, active: true }])
    expect((await asVisitor('BroadcastMessage.ListBroadcastMessages', {})).result).toEqual([made])
    expect((await asVisitor('BroadcastMessage.GetBroadcastMessage', made.id)).result).toEqual(made)
    expect(await asVisitor('BroadcastMessage.CreateBroadcastMessage', {})).toMatchObject({
      status: 401,
      error: '{message: 401 Unauthorized}',
    })
    const change = { message: 'Maintenance is over', target_access_levels: [10], theme: 'green' }
    const { result: changed } = await world.asRoot('BroadcastMessage.UpdateBroadcastMessage', made.id, change)
    expect(changed).toEqual({ ...made, ...change })
    expect(await world.asRoot('BroadcastMessage.DeleteBroadcastMessage', made.id)).toMatchObject({ status: 204 })
    expect(await world.asRoot('BroadcastMessage.GetBroadcastMessage', made.id)).toMatchObject({ status: 404 })
  })

  test.each([
    ['Node', 'GeoNodes.RetrieveStatusOfAllGeoNodes', 'GeoNodes.RetrieveStatusOfGeoNode', []],
    ['Site', 'GeoSites.ListStatusOfAllGeoSites', 'GeoSites.GetStatusOfGeoSite', [{}]],
  ])('creates, reads, changes, repairs and deletes a Geo %s', async (noun, statuses, statusOf, listOptions) => {
    const call = (verb: string, ...args: readonly unknown[]) => world.asRoot(`Geo${noun}s.${verb}Geo${noun}`, ...args)
    const { status, result: main } = await call('Create', { name: 'main', url: world.core.url, primary: true })
    expect([status, main]).toMatchObject([201, { name: 'main', primary: true, files_max_capacity: 10 }])
    const { result: oslo } = await call('Create', {
      name: 'oslo',
      url: 'https://oslo.example.test',
      selective_sync_type: 'shards',
      selective_sync_shards: ['default'],
    })
    expect(oslo).toMatchObject({ url: 'https://oslo.example.test/', selective_sync_shards: ['default'] })
    expect((await world.asRoot(`Geo${noun}s.ListGeo${noun}s`, {})).result).toEqual([main, oslo])
    const { result: changed } = await call('Edit', oslo.id, { enabled: false })
    expect(changed).toEqual({ ...oslo, enabled: false })
    expect((await call('Get', oslo.id)).result).toEqual(changed)
    expect((await call('Repair', main.id)).result).toMatchObject({ id: main.id, name: 'main' })
    expect(await call('Repair', oslo.id)).toMatchObject({ status: 400 })
    expect((await world.asRoot(statusOf, main.id)).result).toMatchObject({ geo_node_id: main.id, healthy: true })
    expect((await world.asRoot(statuses, ...listOptions)).result).toMatchObject([{ geo_node_id: main.id }])
    expect(await world.asRoot(statusOf, oslo.id)).toMatchObject({ status: 404 })
    for (const { id } of [main, oslo]) expect(await call('Delete', id)).toMatchObject({ status: 204 })
    expect(await call('Get', main.id)).toMatchObject({ status: 404 })
  })
})
