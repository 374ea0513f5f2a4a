import { accessLevels, createIssue, groupLabels, projectLabels } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { labelsArea } from './labels.ts'

let server: RestServer
let token: string
beforeEach(async () => {
  server = await RestServer.start({ areas: [labelsArea] })
  const { world } = server
  const mira = await world.user('mira')
  token = await server.tokenOf(mira)
  const ops = await world.group('ops')
  const tools = await world.project('tools', ops)
  await world.member(ops, mira, accessLevels.developer)
  await world.perform(mira, groupLabels.create, { parent: ops.id, name: 'bug', color: 'red' })
  await world.perform(mira, projectLabels.create, { parent: tools.id, name: 'ui', color: '#0f0' })
  await world.perform(mira, createIssue, { project: tools.id, title: 'A', labels: ['bug', 'ui'] })
  await world.mergeRequest(mira, {
    ...{ project: tools.id, title: 'B', labels: ['bug'], sourceBranch: 'b', targetBranch: 'main' },
  })
})
afterEach(() => server.close())

const call = async (request: string, json?: object) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { token, ...(json && { json }) })
  return [status, body]
}

test('counts what has a label on request', async () => {
  const counts = { open_issues_count: 1, closed_issues_count: 0, open_merge_requests_count: 1 }
  expect(await call('GET projects/1/labels?with_counts=true')).toMatchObject([
    200,
    [
      { name: 'bug', color: '#ff0000', ...counts },
      { name: 'ui', ...counts, open_merge_requests_count: 0 },
    ],
  ])
  const [, [label]] = (await call('GET projects/1/labels')) as [number, object[]]
  expect(label).not.toHaveProperty('open_issues_count')
})

test('a group lists the labels of its projects on request', async () => {
  const names = async (query: string) =>
    ((await call(`GET groups/1/labels${query}`))[1] as { name: string }[]).map(({ name }) => name)
  expect(await names('')).toEqual(['bug'])
  expect(await names('?only_group_labels=false')).toEqual(['bug', 'ui'])
})

test('subscribes to a label', async () => {
  expect(await call('POST projects/1/labels/ui/subscribe')).toMatchObject([201, { name: 'ui', subscribed: true }])
  expect(await call('POST projects/1/labels/ui/subscribe')).toEqual([304, undefined])
  expect(await call('GET projects/1/labels/ui')).toMatchObject([200, { subscribed: true }])
  expect(await call('GET projects/1/labels')).toMatchObject([200, [{ subscribed: false }, { subscribed: true }]])
  expect(await call('POST groups/1/labels/1/unsubscribe')).toEqual([304, undefined])
  expect(await call('POST projects/1/labels/2/unsubscribe')).toMatchObject([201, { subscribed: false }])
})

test('stores the code of a named color', async () => {
  const created = await call('POST projects/1/labels', { name: 'x', color: 'Teal', description: 'y' })
  expect(created).toMatchObject([201, { color: '#008080', text_color: '#FFFFFF' }])
})
