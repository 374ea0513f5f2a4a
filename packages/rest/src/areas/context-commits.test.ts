import { accessLevels, createBranch, createCommit, updateUser } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { contextCommitsArea } from './context-commits.ts'

const path = 'projects/ops%2Ftools/merge_requests/1/context_commits'
const invalidSha = { message: "One or more context commits' sha is not valid." }

let server: RestServer
let world: World
let token: string
let first: string
let second: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [contextCommitsArea] })
  world = server.world
  const mira = await world.user('mira')
  token = await server.tokenOf(mira)
  const tools = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(tools, mira, accessLevels.maintainer)
  const commit = async (filePath: string, commitMessage: string) => {
    const actions = [{ action: 'create', filePath, content: 'x' }]
    const draft = { project: tools.id, branch: 'main', commitMessage, actions, authorName: 'Mira Holt' }
    return (await world.perform(mira, createCommit, draft)).sha
  }
  first = await commit('a.md', 'Add <retry>\n\nIt "waits" & tries.\n\nRefs: #1\nRefs: #2')
  second = await commit('b.md', 'Add limit')
  await world.perform(mira, createBranch, { project: tools.id, branch: 'fix', ref: 'main' })
  await world.mergeRequest(mira, { project: tools.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' })
})
afterEach(() => server.close())

const call = async (method: string, { query = '', json }: { query?: string; json?: object } = {}) => {
  const { status, body } = await server.call(method, `${path}${query}`, { token, json })
  return [status, body]
}
const idsListed = async () => (await server.call('GET', path)).body.map(({ id }: { id: string }) => id)

test('the answer to adding has fourteen fields, in the form of Git', async () => {
  const [status, body] = await call('POST', { json: { commits: [second, first.slice(0, 8)] } })
  expect([status, body.length, body[0].id]).toEqual([201, 2, second])
  const time = '2026-02-03T04:05:06.000+00:00'
  const message = 'Add <retry>\n\nIt "waits" & tries.\n\nRefs: #1\nRefs: #2'
  expect(Object.entries(body[1])).toEqual([
    ['id', first],
    ['short_id', first.slice(0, 8)],
    ['created_at', time],
    ['parent_ids', []],
    ['title', 'Add <retry>'],
    ['message', message],
    ['author_name', 'Mira Holt'],
    ['author_email', 'mira@example.test'],
    ['authored_date', time],
    ['committer_name', 'mira Holt'],
    ['committer_email', 'mira@example.test'],
    ['committed_date', time],
    ['trailers', { Refs: '#2' }],
    ['extended_trailers', { Refs: ['#1', '#2'] }],
  ])
  expect(body[0].parent_ids).toEqual([first])
})

test('the list has the form of the database, for anonymous callers too', async () => {
  await call('POST', { json: { commits: [first] } })
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, updateUser, { user: 1, publicEmail: 'mira@example.test' })
  const { status, body, headers } = await server.call('GET', path)
  expect([status, body.length, headers.get('x-total')]).toEqual([200, 1, '1'])
  const { externalUrl } = world.core.settings
  const url = `${externalUrl}/ops/tools/-/commit/${first}`
  const time = '2026-02-03T04:05:06.000Z'
  expect(Object.entries(body[0])).toEqual([
    ['id', first],
    ['short_id', first.slice(0, 8)],
    ['created_at', time],
    ['parent_ids', null],
    ['title', 'Add <retry>'],
    ['message', 'Add <retry>\n\nIt "waits" & tries.\n\nRefs: #1\nRefs: #2'],
    ['author_name', 'Mira Holt'],
    ['author_email', 'mira@example.test'],
    ['authored_date', time],
    ['committer_name', 'mira Holt'],
    ['committer_email', 'mira@example.test'],
    ['committed_date', time],
    ['trailers', { Refs: '#2' }],
    ['extended_trailers', null],
    ['web_url', url],
    [
      'author',
      {
        id: 1,
        username: 'mira',
        public_email: 'mira@example.test',
        name: 'mira Holt',
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `${externalUrl}/mira`,
        show_status: false,
        path: '/mira',
      },
    ],
    ['author_avatar_service_url', null],
    ['author_gravatar_url', null],
    ['commit_url', url],
    ['commit_path', `/ops/tools/-/commit/${first}`],
    ['description_html', 'It &quot;waits&quot; &amp; tries.\n\nRefs: #1\nRefs: #2'],
    ['title_html', 'Add &lt;retry&gt;'],
    ['signature_html', null],
    ['prev_commit_id', null],
    ['next_commit_id', null],
    ['pipeline_status_path', null],
  ])
})

test('paths begin with that of the external URL', async () => {
  await call('POST', { json: { commits: [second] } })
  const settings = { ...world.core.settings, externalUrl: 'https://svc.example.test/forge' }
  const below = await RestServer.start({
    areas: [contextCommitsArea],
    world: Object.assign(Object.create(world), { core: { ...world.core, settings } }),
  })
  const { body } = await below.call('GET', path)
  expect(body[0].commit_path).toBe(`/forge/ops/tools/-/commit/${second}`)
})

test('the texts of errors', async () => {
  const post = (commits?: unknown) => call('POST', { json: { commits } })
  expect(await post()).toEqual([400, { error: 'commits is missing, commits is empty' }])
  for (const blank of [[], '', null]) expect(await post(blank)).toEqual([400, { error: 'commits is empty' }])
  expect(await post([[first]])).toEqual([400, { error: 'commits is invalid' }])
  expect(await post(Array(21).fill(first))).toEqual([
    400,
    { message: 'Context commits array size should not be more than 20' },
  ])
  expect(await post(['main'])).toEqual([400, invalidSha])
  expect(await call('DELETE')).toEqual([400, { error: 'commits is missing, commits is empty' }])
  expect(await call('DELETE', { query: `?commits=${'0'.repeat(40)}` })).toEqual([400, invalidSha])
  await post([first])
  expect(await post([first])).toEqual([400, { message: `Context commits: ["${first}"] are already created` }])
  const anonymous = await server.call('POST', path, { json: { commits: [] } })
  expect([anonymous.status, anonymous.body]).toEqual([401, { message: '401 Unauthorized' }])
})

test('commits come as a list, as text with commas, and as repeated parameters', async () => {
  const both = `${first}, ${second}`
  await call('POST', { json: { commits: both } })
  expect(await idsListed()).toEqual([first, second])
  for (const query of [`?commits=${first}&commits=${second}`, `?commits[]=${first}&commits[]=${second}`]) {
    expect(await call('DELETE', { query })).toEqual([204, undefined])
    expect(await idsListed()).toEqual([])
    await call('POST', { json: { commits: both } })
  }
  expect(await call('DELETE', { json: { commits: [first, second] } })).toEqual([204, undefined])
  expect(await idsListed()).toEqual([])
})
