import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld
  let root: InstanceType<typeof Gitlab>
  let noor: number
  let token: string
  let project: number

  beforeEach(async () => {
    world = await GoWorld.start()
    root = new Gitlab({ host: world.core.url, token: world.core.rootToken })
    const group = (await root.Groups.create('Ops', 'ops', { visibility: 'public' })).id
    project = (await root.Projects.create({ name: 'tools', namespaceId: group, visibility: 'public' })).id
    const password = 'correct-horse-9'
    const user = { name: 'Noor Elm', username: 'noor', email: 'noor@example.test', password, skipConfirmation: true }
    noor = (await root.Users.create(user)).id
    token = (await root.PersonalAccessTokens.create(noor, 'laptop', ['api'])).token as string
  })

  afterEach(() => world.close())

  const asNoor = (method: string, ...args: readonly unknown[]) => world.as(token, method, ...args)

  test.each(['Group', 'Project'])('asks for access to a %s, and approves and denies', async (kind) => {
    const id = kind === 'Group' ? 'ops' : 'ops/tools'
    const [request, list] = [`AccessRequests.Request${kind}Access`, `AccessRequests.List${kind}AccessRequests`]
    const [approve, deny] = [`AccessRequests.Approve${kind}AccessRequest`, `AccessRequests.Deny${kind}AccessRequest`]
    expect(await asNoor(request, id)).toMatchObject({
      status: 201,
      result: { id: noor, username: 'noor', requested_at: '2026-02-03T04:05:06.789Z' },
    })
    expect(await asNoor(request, id)).toMatchObject({
      status: 400,
      error: '{message: {user_id: [already exists in source]}}',
    })
    expect((await world.asRoot(list, id, { page: 1, per_page: 5 })).result).toHaveLength(1)
    expect(await world.asRoot(deny, id, noor)).toMatchObject({ status: 204 })
    expect((await asNoor(list, id)).result).toEqual([])
    await asNoor(request, id)
    expect(await world.asRoot(approve, id, noor, { access_level: 15 })).toMatchObject({
      status: 201,
      result: { id: noor, access_level: 15 },
    })
    expect(await world.asRoot(deny, id, noor)).toMatchObject({ status: 404 })
  })

  test('adds, lists and removes context commits, which it names by a repeated parameter', async () => {
    const commit = (path: string) =>
      root.RepositoryFiles.create(project, path, 'main', 'x', `Add ${path}`).then(() =>
        root.Commits.show(project, 'main'),
      )
    const [first, second] = [(await commit('a.md')).id, (await commit('b.md')).id]
    await root.Branches.create(project, 'fix', 'main')
    await root.MergeRequests.create(project, 'fix', 'main', 'Fix')
    const service = 'MergeRequestContextCommits'
    const all = async () =>
      (await world.asRoot(`${service}.ListMergeRequestContextCommits`, project, 1)).result.map(
        ({ id }: { id: string }) => id,
      )
    const added = await world.asRoot(`${service}.CreateMergeRequestContextCommits`, project, 1, {
      commits: [second, first],
    })
    expect([added.status, added.result.length]).toEqual([201, 2])
    expect(await all()).toEqual([second, first])
    const both = { commits: [first, second] }
    expect(await world.asRoot(`${service}.DeleteMergeRequestContextCommits`, project, 1, both)).toMatchObject({
      status: 204,
    })
    expect(await all()).toEqual([])
  })
})
