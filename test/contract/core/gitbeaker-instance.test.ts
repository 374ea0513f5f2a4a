import { AccessLevel, GitbeakerRequestError, Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
})

afterEach(() => core.close())

const statusOf = (request: Promise<unknown>): Promise<number | undefined> =>
  request.then(
    () => 200,
    (error) => (error instanceof GitbeakerRequestError ? error.cause?.response.status : undefined),
  )

test('applications are created, listed without their secret, and removed', async () => {
  const made = await root.Applications.create('Deploy board', 'https://board.example.test/cb', 'api read_user')
  expect(made).toEqual({
    id: 1,
    application_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    application_name: 'Deploy board',
    callback_url: 'https://board.example.test/cb',
    confidential: true,
    scopes: ['api', 'read_user'],
    secret: expect.stringMatching(/^gitlaboas-[0-9a-f]{64}$/),
  })
  const open = await root.Applications.create('Phone', 'com.example.phone:/cb', 'read_api', { confidential: false })
  expect(open.confidential).toBe(false)
  const { secret, ...listed } = made
  expect(secret).toBeDefined()
  expect((await root.Applications.all())[0]).toEqual(listed)
  await root.Applications.remove(made.id)
  expect((await root.Applications.all()).map(({ id }) => id)).toEqual([open.id])
  expect(await statusOf(root.Applications.remove(made.id))).toBe(404)
})

test('broadcast messages are created, read without a token, changed and removed', async () => {
  const made = await root.BroadcastMessages.create({
    message: 'Maintenance on Sunday',
    startsAt: '2026-02-03T04:00:00Z',
    endsAt: '2026-02-03T06:00:00Z',
    color: '#112233',
    font: '#ffffff',
    targetPath: '*/welcome',
    targetAccessLevels: [AccessLevel.DEVELOPER, AccessLevel.MAINTAINER],
    broadcastType: 'notification',
    dismissable: true,
    active: false,
  })
  expect(made).toEqual({
    id: 1,
    message: 'Maintenance on Sunday',
    starts_at: '2026-02-03T04:00:00.000Z',
    ends_at: '2026-02-03T06:00:00.000Z',
    color: '#112233',
    font: '#ffffff',
    target_access_levels: [30, 40],
    target_path: '*/welcome',
    broadcast_type: 'notification',
    theme: 'indigo',
    dismissable: true,
    active: true,
  })
  await root.BroadcastMessages.create({ message: 'Later', startsAt: '2026-03-01' })
  const visitor = new Gitlab({ host: core.url, token: 'unknown-token' })
  const all = await visitor.BroadcastMessages.all({ perPage: 1 })
  expect(all.map(({ message, active }) => [message, active])).toEqual([
    ['Later', false],
    ['Maintenance on Sunday', true],
  ])
  expect(await visitor.BroadcastMessages.show(made.id)).toEqual(made)
  expect(await statusOf(visitor.BroadcastMessages.create({ message: 'No' }))).toBe(401)
  const changed = await root.BroadcastMessages.edit(made.id, { message: 'It is over', targetAccessLevels: [] })
  expect(changed).toEqual({ ...made, message: 'It is over', target_access_levels: [] })
  await root.BroadcastMessages.remove(made.id)
  expect(await statusOf(root.BroadcastMessages.show(made.id))).toBe(404)
})

test.each(['GeoNodes', 'GeoSites'] as const)(
  '%s are created, shown, changed, repaired and removed',
  async (resource) => {
    const nodes = root[resource]
    const main = await nodes.create('main', core.url, { primary: true })
    const oslo = await nodes.create('oslo', 'https://oslo.example.test', {
      internalUrl: 'https://10.0.0.2',
      selectiveSyncType: 'shards',
      selectiveSyncShards: ['default'],
      containerRepositoriesMaxCapacity: 4,
    })
    expect(oslo).toMatchObject({
      name: 'oslo',
      url: 'https://oslo.example.test/',
      internal_url: 'https://10.0.0.2/',
      primary: false,
      selective_sync_type: 'shards',
      selective_sync_shards: ['default'],
      container_repositories_max_capacity: 4,
    })
    expect((await nodes.all({ perPage: 1 })).map(({ id }) => id)).toEqual([main.id, oslo.id])
    const changed = await nodes.edit(oslo.id, { enabled: false, reposMaxCapacity: 9 })
    expect(changed).toEqual({ ...oslo, enabled: false, repos_max_capacity: 9 })
    expect(await nodes.show(oslo.id)).toEqual(changed)
    const status = await nodes.showStatus(main.id)
    expect(status).toMatchObject({ geo_node_id: main.id, health: 'Healthy', db_replication_lag_seconds: null })
    expect(await nodes.allStatuses()).toMatchObject([{ geo_node_id: main.id }])
    expect(await nodes.allFailures()).toEqual([])
    expect(await nodes.repair(main.id)).toMatchObject({ id: main.id, name: 'main', health_status: 'Healthy' })
    expect(await statusOf(nodes.repair(oslo.id))).toBe(400)
    expect(await statusOf(nodes.showStatus(oslo.id))).toBe(404)
    await nodes.remove(oslo.id)
    await nodes.remove(main.id)
    expect(await nodes.all()).toEqual([])
    expect(await root.Applications.all()).toEqual([])
  },
)
