import { accessLevels, createBranch, createCommit, createIssue, type Project, type User } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { issuesArea } from './issues.ts'
import { mergeRequestsArea } from './merge-requests.ts'

let world: World
let server: RestServer
let mira: User
let token: string
let tools: Project
let site: Project

beforeEach(async () => {
  server = await RestServer.start({ areas: [issuesArea, mergeRequestsArea] })
  world = server.world
  mira = await world.user('mira')
  token = await server.tokenOf(mira)
  const ops = await world.group('ops')
  tools = await world.project('tools', ops)
  site = await world.project('site', ops)
  for (const project of [tools, site]) {
    await world.member(project, mira, accessLevels.maintainer)
    for (const title of ['First', 'Second']) await world.perform(mira, createIssue, { project: project.id, title })
  }
  await commit('main', 'Begin')
})
afterEach(() => server.close())

let files = 0
const commit = (branch: string, commitMessage: string) =>
  world.perform(mira, createCommit, {
    project: tools.id,
    branch,
    commitMessage,
    actions: [{ action: 'create', filePath: `${++files}.md`, content: 'x' }],
  })
const branch = (name: string) => world.perform(mira, createBranch, { project: tools.id, branch: name, ref: 'main' })
const call = (method: string, path: string, json?: object, as = token) =>
  server.call(method, `projects/${path}`, { token: as, ...(json && { json }) })
const open = async (sourceBranch: string, more: object = {}): Promise<number> => {
  const draft = { title: sourceBranch, source_branch: sourceBranch, target_branch: 'main', ...more }
  return (await call('POST', `${tools.id}/merge_requests`, draft)).body.iid
}
const listed = async (path: string, as = token) => {
  const { status, body } = await call('GET', path, undefined, as)
  expect(status).toBe(200)
  return body.map(({ project_id, iid }: Record<string, number>) => `${project_id}/${iid}`)
}

test('titles and descriptions tell which issues a merge request closes, and which it only mentions', async () => {
  await branch('fix')
  const description = 'Closes #1, ops/site#2 and site#99. See #2.'
  const iid = await open('fix', { description })
  const one = `${tools.id}/merge_requests/${iid}`
  expect(await listed(`${one}/closes_issues`)).toEqual(['1/1', '2/2'])
  expect(await listed(`${one}/related_issues`)).toEqual(['1/1', '1/2', '2/2'])
  expect(await listed('1/issues/1/closed_by')).toEqual([`1/${iid}`])
  expect(await listed('1/issues/2/closed_by')).toEqual([])
  const counts = (await call('GET', '1/issues?sort=asc')).body.map(
    (issue: Record<string, number>) => issue.merge_requests_count,
  )
  expect(counts).toEqual([1, 0])
  expect((await call('GET', '1/issues/1')).body.merge_requests_count).toBe(1)
  expect(await listed('1/issues/2/related_merge_requests')).toEqual([`1/${iid}`])
  // Only merge requests of the own project close an issue in this list, as on GitLab.
  expect(await listed('2/issues/2/closed_by')).toEqual([])
  expect(await listed('2/issues/2/related_merge_requests')).toEqual([`1/${iid}`])

  await call('PUT', one, { description: 'Fixes #2' })
  expect(await listed(`${one}/related_issues`)).toEqual(['1/2'])
  expect(await listed('1/issues/1/closed_by')).toEqual([])
})

test('messages of commits count, those before and those after the merge request', async () => {
  await branch('fix')
  await commit('fix', 'Dig\n\nCloses #1')
  const iid = await open('fix')
  const one = `${tools.id}/merge_requests/${iid}`
  expect(await listed(`${one}/closes_issues`)).toEqual(['1/1'])
  await commit('fix', 'Dig deeper\n\nResolves #2')
  expect(await listed(`${one}/closes_issues`)).toEqual(['1/1', '1/2'])
  await call('PUT', one, { title: 'Dig' })
  expect(await listed('1/issues/2/closed_by')).toEqual([`1/${iid}`])
})

test('a merge request into another branch than the default one closes nothing', async () => {
  await branch('fix')
  await branch('release')
  const iid = await open('fix', { description: 'Closes #1', target_branch: 'release' })
  const one = `${tools.id}/merge_requests/${iid}`
  expect(await listed(`${one}/closes_issues`)).toEqual([])
  expect(await listed(`${one}/related_issues`)).toEqual(['1/1'])
  expect(await listed('1/issues/1/closed_by')).toEqual([])
  await call('PUT', one, { target_branch: 'main' })
  expect(await listed(`${one}/closes_issues`)).toEqual(['1/1'])
})

test('issues and merge requests that the caller may not see are left out', async () => {
  await branch('fix')
  const iid = await open('fix', { description: 'Closes #1 and site#1' })
  const noor = await world.user('noor')
  await world.member(tools, noor, accessLevels.reporter)
  const other = await server.tokenOf(noor)
  expect(await listed(`${tools.id}/merge_requests/${iid}/closes_issues`, other)).toEqual(['1/1'])
  const guest = await world.user('gust')
  await world.member(tools, guest, accessLevels.guest)
  expect(await listed('1/issues/1/closed_by', await server.tokenOf(guest))).toEqual([])
  expect((await call('GET', '2/issues/1/closed_by', undefined, other)).status).toBe(404)
})
