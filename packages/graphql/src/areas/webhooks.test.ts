import { accessLevels, createHook, endHookCall, insertHookCall, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

const DAY_MS = 24 * 3_600_000

let server: GraphqlServer
let mira: User
let hookId: number

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  mira = await world.user('mira')
  const project = await world.project('app', await world.group('ops'))
  await world.member(project, mira, accessLevels.maintainer)
  const hook = await world.perform(mira, createHook, {
    project: project.id,
    url: 'https://ci.example.test/{tenant}',
    name: 'ci',
    token: 'open-secret',
    branchFilterStrategy: 'all_branches',
    pipelineEvents: true,
    urlVariables: [{ key: 'tenant', value: 'blue-secret' }],
    customHeaders: [{ key: 'X-Team', value: 'red-secret' }],
  })
  hookId = hook.id
})
afterEach(() => server.close())

const ask = async (fields: string, as: User | undefined = mira) =>
  (await server.ask(`{ project(fullPath: "ops/app") { ${fields} } }`, { as })).body

const webhook = (fields: string, id = hookId) => `webhook(id: "gid://svc/ProjectHook/${id}") { ${fields} }`

/** Stores a call that ended, `daysAgo` days before now. Returns its id. */
async function call(daysAgo: number, requestData = '{"a":1}', internalError?: string): Promise<number> {
  const { core } = server.world
  const nowMs = core.clock.nowMs() - daysAgo * DAY_MS
  return core.db.write(async (db) => {
    const id = await insertHookCall(
      { db, nowMs },
      {
        hookId,
        trigger: 'pipeline_events',
        url: 'https://ci.example.test/{tenant}',
        urlDigest: 'digest',
        idempotencyKey: 'key',
        requestHeaders: { 'X-Svc-Event': 'Pipeline Hook' },
        requestData,
      },
    )
    await endHookCall({ db, nowMs }, id, {
      status: internalError === undefined ? 201 : undefined,
      internalError,
      responseHeaders: { server: 'ci' },
      responseBody: 'made',
      durationMs: 1_500,
    })
    return id
  })
}

test('a hook is read by its id, without its secrets', async () => {
  const fields = `id url name description createdAt alertStatus disabledUntil enableSslVerification branchFilterStrategy
    pushEventsBranchFilter customWebhookTemplate customHeaders { key } urlVariables { key } tokenPresent
    signingTokenPresent pushEvents pipelineEvents vulnerabilityEvents`
  expect(await ask(webhook(fields))).toEqual({
    data: {
      project: {
        webhook: {
          id: `gid://svc/ProjectHook/${hookId}`,
          url: 'https://ci.example.test/{tenant}',
          name: 'ci',
          description: null,
          createdAt: expect.stringMatching(/Z$/),
          alertStatus: 'EXECUTABLE',
          disabledUntil: null,
          enableSslVerification: true,
          branchFilterStrategy: 'ALL_BRANCHES',
          pushEventsBranchFilter: null,
          customWebhookTemplate: null,
          customHeaders: [{ key: 'X-Team' }],
          urlVariables: [{ key: 'tenant' }],
          tokenPresent: true,
          signingTokenPresent: false,
          pushEvents: true,
          pipelineEvents: true,
          vulnerabilityEvents: false,
        },
      },
    },
  })
})

test('a missing hook, the hook of another project, a hidden hook and the hook of a group are null', async () => {
  const { world } = server
  const group = await world.group('lab')
  const other = await world.project('other', group)
  const ivo = await world.user('ivo')
  await world.member(other, mira, accessLevels.owner)
  await world.member(group, mira, accessLevels.owner)
  const missing = { data: { project: { webhook: null } } }
  expect(await ask(webhook('id', 99))).toEqual(missing)
  const { body } = await server.ask(
    `{ project(fullPath: "lab/other") { ${webhook('id')} }
       group(fullPath: "lab") { webhook(id: "gid://svc/GroupHook/${hookId}") { id memberEvents pushEvents } } }`,
    { as: mira },
  )
  expect(body).toEqual({ data: { project: { webhook: null }, group: { webhook: null } } })
  await world.member({ ...other, id: 1 }, ivo, accessLevels.developer)
  expect(await ask(webhook('id'), ivo)).toEqual(missing)
  const { errors } = await ask(`webhook(id: "gid://svc/Project/1") { id }`)
  expect(errors[0].message).toContain("Expected type 'ProjectHookID!'")
})

test('calls are listed newest first, with request data and headers, for seven days', async () => {
  await call(9)
  const first = await call(2)
  const second = await call(1, '{"oversize":true}', 'connection refused')
  const fields = `id createdAt url trigger requestHeaders { name value } requestData responseStatus
    responseHeaders { name value } responseBody executionDuration internalErrorMessage oversize`
  const { data } = await ask(webhook(`webhookEvents { nodes { ${fields} } pageInfo { hasNextPage } }`))
  expect(data.project.webhook.webhookEvents).toEqual({
    nodes: [
      expect.objectContaining({
        id: `gid://svc/WebHookLog/${second}`,
        responseStatus: 'internal error',
        internalErrorMessage: 'connection refused',
        oversize: true,
      }),
      {
        id: `gid://svc/WebHookLog/${first}`,
        createdAt: expect.stringMatching(/Z$/),
        url: 'https://ci.example.test/{tenant}',
        trigger: 'pipeline_events',
        requestHeaders: [{ name: 'X-Svc-Event', value: 'Pipeline Hook' }],
        requestData: '{"a":1}',
        responseStatus: '201',
        responseHeaders: [{ name: 'server', value: 'ci' }],
        responseBody: 'made',
        executionDuration: 1.5,
        internalErrorMessage: null,
        oversize: false,
      },
    ],
    pageInfo: { hasNextPage: false },
  })
})

test('a time range selects calls, and one call is found by its id', async () => {
  const old = await call(9)
  const first = await call(3)
  const second = await call(1)
  const since = (days: number) => new Date(server.world.core.clock.nowMs() - days * DAY_MS).toISOString()
  const ids = async (range: string) => {
    const { data } = await ask(webhook(`webhookEvents(timestampRange: ${range}) { nodes { id } }`))
    return data.project.webhook.webhookEvents.nodes.map(({ id }: { id: string }) => Number(id.split('/').at(-1)))
  }
  expect(await ids(`{ start: "${since(2)}" }`)).toEqual([second])
  expect(await ids(`{ end: "${since(2)}" }`)).toEqual([first])
  expect(await ids(`{ start: "${since(20)}", end: null }`)).toEqual([second, first])
  const one = async (id: number, range = '') => {
    const { data } = await ask(webhook(`webhookEvent(id: "gid://svc/WebHookLog/${id}"${range}) { id requestData }`))
    return data.project.webhook.webhookEvent
  }
  expect(await one(first)).toEqual({ id: `gid://svc/WebHookLog/${first}`, requestData: '{"a":1}' })
  expect(await one(first, `, timestampRange: { start: "${since(2)}" }`)).toBeNull()
  expect(await one(old)).toBeNull()
})

test('pages of calls and their request data take a constant number of statements', async () => {
  for (let day = 0; day < 3; day += 1) await call(day)
  const statements = (count: number) =>
    server.world.statements(() => ask(webhook(`webhookEvents(first: ${count}) { nodes { id requestData } }`)))
  expect(await statements(3)).toBe(await statements(1))
})
