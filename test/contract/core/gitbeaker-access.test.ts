import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

type Client = InstanceType<typeof Gitlab>

const statusOf = (request: Promise<unknown>): Promise<number> =>
  request.then(
    () => 200,
    (error) => error.cause.response.status,
  )

let core: RunningCore
let root: Client
let group: number
let project: number
let noor: number
let token: string

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  group = (await root.Groups.create('Ops', 'ops', { visibility: 'public' })).id
  project = (await root.Projects.create({ name: 'tools', namespaceId: group, visibility: 'public' })).id
  const password = 'correct-horse-9'
  const user = { name: 'Noor Elm', username: 'noor', email: 'noor@example.test', password, skipConfirmation: true }
  noor = (await root.Users.create(user)).id
  token = (await root.PersonalAccessTokens.create(noor, 'laptop', ['api'])).token as string
})
afterEach(() => core.close())

const commit = async (path: string) => {
  const actions = [{ action: 'create', filePath: path, content: 'x' }] as const
  return (await root.Commits.create(project, 'main', `Add ${path}`, [...actions])).id
}

/** Creates two commits and a merge request. Returns the ids of the commits. */
async function withMergeRequest(): Promise<readonly [string, string]> {
  const commits = [await commit('a.md'), await commit('b.md')] as const
  await root.Branches.create(project, 'fix', 'main')
  await root.MergeRequests.create(project, 'fix', 'main', 'Fix')
  return commits
}

test('gitbeaker asks for access, withdraws, denies and approves', async () => {
  const caller = new Gitlab({ host: core.url, token })
  for (const [id, requests, own] of [
    [group, root.GroupAccessRequests, caller.GroupAccessRequests],
    [project, root.ProjectAccessRequests, caller.ProjectAccessRequests],
  ] as const) {
    const made = await own.request(id)
    expect([made.id, made.username, made.requested_at]).toEqual([noor, 'noor', '2026-02-03T04:05:06.789Z'])
    expect(await statusOf(own.request(id))).toBe(400)
    expect((await own.all(id)).map((each) => each.username)).toEqual(['noor'])
    expect(await statusOf(own.approve(id, noor))).toBe(403)
    await own.deny(id, noor)
    expect(await requests.all(id)).toEqual([])
    await own.request(id)
    await requests.deny(id, noor)
    expect(await statusOf(requests.deny(id, noor))).toBe(404)
  }
  await caller.ProjectAccessRequests.request('ops/tools')
  expect(await root.ProjectAccessRequests.approve('ops/tools', noor, { accessLevel: 20 })).toMatchObject({
    id: noor,
    access_level: 20,
  })
  await caller.GroupAccessRequests.request('ops')
  expect(await root.GroupAccessRequests.approve('ops', noor)).toMatchObject({ id: noor, access_level: 30 })
})

test('gitbeaker adds, lists and removes context commits', async () => {
  const [first, second] = await withMergeRequest()
  // Its type names the commits; the service also accepts them as a list.
  const commits = [second, first] as unknown as string[]
  const added = await root.MergeRequestContextCommits.create(project, commits, { mergerequestIId: 1 })
  expect((added as unknown as { id: string }[]).map(({ id }) => id)).toEqual([second, first])
  const listed = await root.MergeRequestContextCommits.all(project, 1)
  expect(listed.map(({ id, title }) => [id, title])).toEqual([
    [second, 'Add b.md'],
    [first, 'Add a.md'],
  ])
  await root.MergeRequestContextCommits.remove(project, 1, { commits: [second] } as never)
  expect((await root.MergeRequestContextCommits.all(project, 1)).map(({ id }) => id)).toEqual([first])
})
