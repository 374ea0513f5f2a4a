import { AccessLevel, GitbeakerRequestError, Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

const BEGINS = '2026-02-03T04:05:06.789Z'
const HOUR_MS = 3_600_000

let core: RunningCore
let root: InstanceType<typeof Gitlab>

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
})

afterEach(() => core.close())

const newUser = (username: string) =>
  root.Users.create({
    username,
    name: `${username} Holt`,
    email: `${username}@example.test`,
    password: 'correct-horse-9',
    skipConfirmation: true,
  })
const newProject = (path: string, namespaceId: number) => root.Projects.create({ name: path, path, namespaceId })
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const inSequence = async (count: number, work: (number: number) => Promise<unknown>) => {
  for (const number of range(count)) await work(number)
}

/** Returns the status and text of the error that the client throws. */
async function refusal(request: Promise<unknown>): Promise<[status: number, text: string]> {
  try {
    await request
  } catch (error) {
    if (!(error instanceof GitbeakerRequestError)) throw error
    return [error.cause!.response.status, error.cause!.description]
  }
  throw new Error('the request succeeded')
}

describe('credentials', () => {
  test('a personal token is created, shown, used, rotated and revoked', async () => {
    const mira = await newUser('mira')
    const made = await root.PersonalAccessTokens.create(mira.id, 'laptop', ['api'], { expiresAt: '2026-06-01' })
    expect(made).toMatchObject({
      id: 2,
      name: 'laptop',
      revoked: false,
      created_at: BEGINS,
      scopes: ['api'],
      user_id: mira.id,
      active: true,
      expires_at: '2026-06-01',
    })
    const own = new Gitlab({ host: core.url, token: String(made.token) })
    expect(await own.Users.showCurrentUser()).toMatchObject({ id: mira.id, username: 'mira', state: 'active' })
    // The time of the last use is written asynchronously, but before any later write.
    await newUser('kai')
    expect(await own.PersonalAccessTokens.show()).toMatchObject({ id: 2, name: 'laptop', last_used_at: BEGINS })
    expect((await own.PersonalAccessTokens.all()).map(({ id }) => id)).toEqual([2])
    expect((await root.PersonalAccessTokens.all()).map(({ id }) => id).toSorted()).toEqual([1, 2])
    expect(await refusal(own.PersonalAccessTokens.create(mira.id, 'another', ['api']))).toEqual([403, '403 Forbidden'])

    const rotated = await own.PersonalAccessTokens.rotate('self', { expiresAt: '2026-07-01' })
    expect(rotated).toMatchObject({ id: 3, name: 'laptop', expires_at: '2026-07-01' })
    const renewed = new Gitlab({ host: core.url, token: String(rotated.token) })
    expect((await renewed.Users.showCurrentUser()).username).toBe('mira')
    // Use of a rotated token suggests that it was stolen, so its successors are revoked too.
    expect(await refusal(own.Users.showCurrentUser())).toEqual([401, 'invalid_token'])
    expect(await refusal(renewed.Users.showCurrentUser())).toEqual([401, 'invalid_token'])
    expect(await root.PersonalAccessTokens.show({ tokenId: 3 })).toMatchObject({ revoked: true, active: false })

    const last = await root.PersonalAccessTokens.create(mira.id, 'phone', ['api'])
    await new Gitlab({ host: core.url, token: String(last.token) }).PersonalAccessTokens.remove()
    expect(await root.PersonalAccessTokens.show({ tokenId: last.id })).toMatchObject({ revoked: true, active: false })
    await root.PersonalAccessTokens.remove({ tokenId: 2 })
  })

  test('a project token acts as a bot with its role until it is revoked', async () => {
    const group = await root.Groups.create('Ops', 'ops')
    const { id } = await newProject('tools', group.id)
    const made = await root.ProjectAccessTokens.create(id, 'deploys', ['api'], '2026-06-01', { accessLevel: 30 })
    expect(made).toMatchObject({ name: 'deploys', access_level: 30, active: true, scopes: ['api'] })
    const bot = new Gitlab({ host: core.url, token: made.token })
    const { username, bot: isBot } = await bot.Users.showCurrentUser()
    expect([username, isBot]).toEqual([expect.stringMatching(`^project_${id}_bot_[0-9a-f]{32}$`), true])
    expect((await bot.Issues.create(id, 'By a bot')).title).toBe('By a bot')
    expect(await refusal(bot.Projects.edit(id, { name: 'mine' }))).toEqual([403, '403 Forbidden'])
    expect((await root.ProjectAccessTokens.all(id)).map(({ name }) => name)).toEqual(['deploys'])
    expect(await root.ProjectAccessTokens.show(id, made.id)).toMatchObject({ id: made.id, name: 'deploys' })
    const rotated = await root.ProjectAccessTokens.rotate(id, made.id)
    expect(rotated.expires_at).toBe('2026-02-10')
    await root.ProjectAccessTokens.revoke(id, rotated.id)
    expect(await refusal(new Gitlab({ host: core.url, token: rotated.token }).Issues.all())).toEqual([
      401,
      'invalid_token',
    ])
  })

  test('a group token can access the projects of the group', async () => {
    const group = await root.Groups.create('Ops', 'ops')
    const project = await newProject('tools', group.id)
    const made = await root.GroupAccessTokens.create(group.id, 'reader', ['read_api'], '2026-06-01', {
      accessLevel: 20,
    })
    const bot = new Gitlab({ host: core.url, token: made.token })
    expect((await bot.Projects.show('ops/tools')).id).toBe(project.id)
    expect(await refusal(bot.Issues.create(project.id, 'No'))).toEqual([403, 'insufficient_scope'])
    expect(await root.GroupAccessTokens.show(group.id, made.id)).toMatchObject({
      access_level: 20,
      scopes: ['read_api'],
    })
    expect((await root.GroupAccessTokens.all(group.id)).map(({ id }) => id)).toEqual([made.id])
    const rotated = await root.GroupAccessTokens.rotate(group.id, made.id, { expiresAt: '2026-07-01' })
    expect(rotated).toMatchObject({ name: 'reader', access_level: 20, expires_at: '2026-07-01' })
    const renewed = new Gitlab({ host: core.url, token: rotated.token })
    expect((await renewed.Groups.show('ops')).id).toBe(group.id)
    await root.GroupAccessTokens.revoke(group.id, rotated.id)
    expect(await refusal(renewed.Groups.show('ops'))).toEqual([401, 'invalid_token'])
    expect(await refusal(bot.Projects.show('ops/tools'))).toEqual([401, 'invalid_token'])
  })

  test('an impersonation token can be created only by administrators', async () => {
    const mira = await newUser('mira')
    const made = await root.UserImpersonationTokens.create(mira.id, 'support', ['api'], { expiresAt: '2026-06-01' })
    expect(made).toMatchObject({ name: 'support', impersonation: true, active: true, user_id: mira.id })
    const asMira = new Gitlab({ host: core.url, token: String(made.token) })
    expect((await asMira.Users.showCurrentUser()).id).toBe(mira.id)
    expect(await refusal(asMira.UserImpersonationTokens.all(mira.id))).toEqual([403, '403 Forbidden'])
    expect((await root.UserImpersonationTokens.all(mira.id)).map(({ id }) => id)).toEqual([made.id])
    await root.UserImpersonationTokens.revoke(mira.id, made.id)
    expect(await root.UserImpersonationTokens.show(mira.id, made.id)).toMatchObject({ revoked: true })
    expect(await refusal(asMira.Users.showCurrentUser())).toEqual([401, 'invalid_token'])
  })

  test('an OAuth token works within its scopes for two hours', async () => {
    const mira = await newUser('mira')
    const oauthToken = await core.oauthToken('mira', 'correct-horse-9', 'read_user')
    const client = new Gitlab({ host: core.url, oauthToken })
    expect((await client.Users.showCurrentUser()).id).toBe(mira.id)
    expect(await refusal(client.Groups.all())).toEqual([403, 'insufficient_scope'])
    await core.advance(2 * HOUR_MS)
    expect(await refusal(client.Users.showCurrentUser())).toEqual([401, 'invalid_token'])
  })

  test('a job token works on the endpoints that accept job tokens', async () => {
    const mira = await newUser('mira')
    const group = await root.Groups.create('Ops', 'ops')
    const project = await newProject('tools', group.id)
    await root.ProjectMembers.add(project.id, AccessLevel.DEVELOPER, { userId: mira.id })
    await root.RepositoryFiles.create(project.id, 'a.txt', 'main', 'a\n', 'Begin')
    const job = new Gitlab({ host: core.url, jobToken: await core.jobToken(project.id, mira.id) })
    expect((await job.Branches.all(project.id)).map(({ name }) => name)).toEqual(['main'])
    expect((await job.Commits.show(project.id, 'main')).title).toBe('Begin')
    expect(await job.RepositoryFiles.showRaw(project.id, 'a.txt', 'main')).toBe('a\n')
    expect(await job.Tags.all(project.id)).toEqual([])
    expect(await job.MergeRequests.all({ projectId: project.id })).toEqual([])
    expect(await refusal(job.Users.showCurrentUser())).toEqual([401, '401 Unauthorized'])
  })

  test('anonymous calls see public groups, and an unknown token is rejected', async () => {
    await root.Groups.create('Open', 'open', { visibility: 'public' })
    await root.Groups.create('Closed', 'closed', { visibility: 'private' })
    // The client needs a token option, which may be empty.
    const anonymous = new Gitlab({ host: core.url, token: '' })
    expect((await anonymous.Groups.all()).map(({ path }) => path)).toEqual(['open'])
    expect(await refusal(anonymous.Groups.show('closed'))).toEqual([404, '404 Group Not Found'])
    const unknown = new Gitlab({ host: core.url, token: 'unknown-token' })
    expect(await refusal(unknown.Groups.all())).toEqual([401, '401 Unauthorized'])
  })

  test('sudo by name and by id works for administrators with the scope sudo', async () => {
    const mira = await newUser('mira')
    expect((await root.Users.showCurrentUser({ sudo: 'mira' })).username).toBe('mira')
    const asMira = new Gitlab({ host: core.url, token: core.rootToken, sudo: mira.id })
    expect((await asMira.Users.showCurrentUser()).username).toBe('mira')
    const group = await root.Groups.create('Hers', 'hers', { sudo: 'mira' })
    expect((await root.GroupMembers.all(group.id)).map(({ username }) => username)).toEqual(['mira'])
    expect(await refusal(root.Users.showCurrentUser({ sudo: 'nora' }))).toEqual([
      404,
      '404 User with ID or username nora Not Found',
    ])
    const { token } = await root.PersonalAccessTokens.create(mira.id, 'laptop', ['api'])
    const own = new Gitlab({ host: core.url, token: String(token) })
    expect(await refusal(own.Users.showCurrentUser({ sudo: 'root' }))).toEqual([
      403,
      '403 Forbidden - Must be admin to use sudo',
    ])
  })
})

describe('pages', () => {
  test('by number, all pages or one', async () => {
    const group = await root.Groups.create('Ops', 'ops')
    await inSequence(7, (number) =>
      root.GroupMilestones.create(group.id, `m${number}`, { dueDate: `2026-05-0${number}` }),
    )
    const all = await root.GroupMilestones.all(group.id, { perPage: 3 })
    expect(all.map(({ title }) => title)).toEqual(range(7).map((number) => `m${number}`))
    const first = await root.GroupMilestones.all(group.id, { perPage: 3, maxPages: 2 })
    expect(first.length).toBe(6)
    const { data, paginationInfo } = await root.GroupMilestones.all(group.id, {
      perPage: 3,
      page: 3,
      showExpanded: true,
    })
    expect(data.map(({ title }) => title)).toEqual(['m7'])
    expect(paginationInfo).toEqual({ total: 7, next: null, current: 3, previous: 2, perPage: 3, totalPages: 3 })
  })

  test('by keyset: projects, groups and users', async () => {
    const group = await root.Groups.create('Ops', 'ops')
    await inSequence(7, (number) => root.Projects.create({ name: `p${number}`, namespaceId: group.id }))
    await inSequence(5, (number) => root.Groups.create(`g${number}`, `g${number}`, { visibility: 'public' }))
    await inSequence(4, (number) => newUser(`u${number}`))
    const projects = await root.Projects.all({ pagination: 'keyset', orderBy: 'id', sort: 'asc', perPage: 2 })
    expect(projects.map(({ name }) => name)).toEqual(range(7).map((number) => `p${number}`))
    const anonymous = new Gitlab({ host: core.url, token: '' })
    const groups = await anonymous.Groups.all({ pagination: 'keyset', orderBy: 'name', sort: 'asc', perPage: 2 })
    expect(groups.map(({ path }) => path)).toEqual(['g1', 'g2', 'g3', 'g4', 'g5'])
    // The client's types do not have this order.
    const byId = { pagination: 'keyset', orderBy: 'id', sort: 'desc', perPage: 2 } as never
    const users = await root.Users.all(byId)
    expect(users.map(({ username }) => username)).toEqual(['u4', 'u3', 'u2', 'u1', 'root'])
  })
})

test('the client gets the error texts', async () => {
  const group = await root.Groups.create('Ops', 'ops')
  expect(await refusal(root.Groups.create('Ops', 'ops'))).toEqual([
    400,
    'Failed to save group {:path=>["has already been taken"]}',
  ])
  expect(await refusal(root.Projects.show(99))).toEqual([404, '404 Project Not Found'])
  expect(await refusal(root.Users.show(99))).toEqual([404, '404 User Not Found'])
  expect(await refusal(root.GroupMilestones.create(group.id, ''))).toEqual([
    400,
    'Failed to create milestone {:title=>["can\'t be blank"]}',
  ])
  expect(await refusal(root.GroupMilestones.all(group.id, { state: 'asleep' as 'active' }))).toEqual([
    400,
    'state does not have a valid value',
  ])
  await newUser('mira')
  expect(await refusal(newUser('mira'))).toEqual([409, 'Email has already been taken'])
})

test('users', async () => {
  const mira = await newUser('mira')
  expect(mira).toMatchObject({
    id: 2,
    username: 'mira',
    name: 'mira Holt',
    email: 'mira@example.test',
    state: 'active',
    is_admin: false,
    created_at: BEGINS,
    web_url: `${core.url}/mira`,
  })
  expect((await root.Users.all({ username: 'MIRA' })).map(({ id }) => id)).toEqual([2])
  expect((await root.Users.all({ search: 'mir' })).map(({ id }) => id)).toEqual([2])
  expect(await root.Users.edit(2, { name: 'Mira Vale' })).toMatchObject({ id: 2, name: 'Mira Vale' })
  const { token } = await root.PersonalAccessTokens.create(2, 'laptop', ['api'])
  const own = new Gitlab({ host: core.url, token: String(token) })
  expect(Object.keys(await own.Users.show(1))).not.toContain('email')
  await root.Users.block(2)
  expect((await root.Users.show(2)).state).toBe('blocked')
  expect(await refusal(own.Users.showCurrentUser())).toEqual([403, '403 Forbidden - Your account has been blocked.'])
  await root.Users.unblock(2)
  await root.Users.deactivate(2)
  expect((await root.Users.show(2)).state).toBe('deactivated')
  await root.Users.activate(2)
  await own.Projects.create({ name: 'Notes', path: 'notes' })
  expect((await root.Users.allProjects(2)).map((project) => project.path_with_namespace)).toEqual(['mira/notes'])
  await root.Users.remove(2)
  expect(await refusal(root.Users.show(2))).toEqual([404, '404 User Not Found'])
})

test('groups', async () => {
  const ops = await root.Groups.create('Ops', 'ops', { description: 'Runs it', visibility: 'internal' })
  expect(ops).toMatchObject({
    id: 1,
    name: 'Ops',
    path: 'ops',
    description: 'Runs it',
    visibility: 'internal',
    full_path: 'ops',
    parent_id: null,
    web_url: `${core.url}/groups/ops`,
  })
  const lab = await root.Groups.create('Lab', 'lab', { parentId: ops.id })
  const deep = await root.Groups.create('Deep', 'deep', { parentId: lab.id })
  expect(deep.full_path).toBe('ops/lab/deep')
  expect((await root.Groups.show('ops/lab/deep')).full_name).toBe('Ops / Lab / Deep')
  expect((await root.Groups.all({ topLevelOnly: true })).map(({ path }) => path)).toEqual(['ops'])
  expect((await root.Groups.allSubgroups(ops.id)).map(({ path }) => path)).toEqual(['lab'])
  expect((await root.Groups.allDescendantGroups('ops', {})).map(({ path }) => path).toSorted()).toEqual(['deep', 'lab'])
  expect(await root.Groups.edit(lab.id, { name: 'Laboratory', path: 'laboratory' })).toMatchObject({
    full_path: 'ops/laboratory',
  })
  await root.Projects.create({ name: 'tools', namespaceId: deep.id })
  expect(
    (await root.Groups.allProjects('ops', { includeSubgroups: true })).map((one) => one.path_with_namespace),
  ).toEqual(['ops/laboratory/deep/tools'])
  await root.Groups.remove(lab.id)
  expect(await refusal(root.Groups.show(deep.id))).toEqual([404, '404 Group Not Found'])
})

test('projects', async () => {
  const ops = await root.Groups.create('Ops', 'ops')
  const lab = await root.Groups.create('Lab', 'lab')
  const tools = await newProject('tools', ops.id)
  expect(tools).toMatchObject({
    id: 1,
    name: 'tools',
    path_with_namespace: 'ops/tools',
    name_with_namespace: 'Ops / tools',
    visibility: 'private',
    empty_repo: true,
    archived: false,
    http_url_to_repo: `${core.url}/ops/tools.git`,
    namespace: { id: ops.id, kind: 'group', full_path: 'ops' },
  })
  await root.RepositoryFiles.create(1, 'a.txt', 'main', 'a\n', 'Begin')
  expect(await root.Projects.show('ops/tools')).toMatchObject({ id: 1, default_branch: 'main', empty_repo: false })
  expect((await root.Projects.edit(1, { description: 'Of use' })).description).toBe('Of use')
  expect((await root.Projects.all({ search: 'tool' })).map(({ id }) => id)).toEqual([1])
  expect((await root.Projects.archive(1)).archived).toBe(true)
  expect((await root.Projects.unarchive(1)).archived).toBe(false)
  expect((await root.Projects.transfer(1, lab.id)).path_with_namespace).toBe('lab/tools')
  await root.Projects.remove(1)
  expect(await refusal(root.Projects.show(1))).toEqual([404, '404 Project Not Found'])
})

test('members', async () => {
  const mira = await newUser('mira')
  const ops = await root.Groups.create('Ops', 'ops')
  const lab = await root.Groups.create('Lab', 'lab', { parentId: ops.id })
  const tools = await newProject('tools', lab.id)
  const added = await root.GroupMembers.add(ops.id, AccessLevel.REPORTER, { userId: mira.id, expiresAt: '2026-12-31' })
  expect(added).toMatchObject({ id: mira.id, username: 'mira', access_level: 20, expires_at: '2026-12-31' })
  const again = root.GroupMembers.add(ops.id, AccessLevel.REPORTER, { userId: mira.id })
  expect(await refusal(again)).toEqual([409, 'Member already exists'])
  expect(await root.GroupMembers.edit(ops.id, mira.id, AccessLevel.DEVELOPER)).toMatchObject({ access_level: 30 })
  expect((await root.ProjectMembers.all(tools.id)).map(({ username }) => username)).toEqual([])
  const inherited = await root.ProjectMembers.all(tools.id, { includeInherited: true })
  expect(inherited.map(({ username, access_level }) => [username, access_level]).toSorted()).toEqual([
    ['mira', 30],
    ['root', 50],
  ])
  expect(await root.ProjectMembers.show(tools.id, mira.id, { includeInherited: true })).toMatchObject({
    access_level: 30,
  })
  await root.ProjectMembers.add(tools.id, AccessLevel.MAINTAINER, { userId: mira.id })
  expect(await root.ProjectMembers.show(tools.id, mira.id)).toMatchObject({ access_level: 40 })
  await root.ProjectMembers.remove(tools.id, mira.id)
  await root.GroupMembers.remove(ops.id, mira.id)
  expect(await refusal(root.GroupMembers.show(ops.id, mira.id))).toEqual([404, '404 Not found'])
})

test('application settings are shown and changed', async () => {
  const before = await root.ApplicationSettings.show()
  expect(before).toMatchObject({ id: 1, default_projects_limit: 100_000, default_project_visibility: 'private' })
  const changed = await root.ApplicationSettings.edit({ defaultProjectsLimit: 5, domainAllowlist: ['*.example.test'] })
  expect(changed).toMatchObject({ default_projects_limit: 5, domain_allowlist: ['*.example.test'] })
  expect(await root.ApplicationSettings.show()).toEqual(changed)
  const mira = await newUser('mira')
  const { token } = await root.PersonalAccessTokens.create(mira.id, 'laptop', ['api'])
  const own = new Gitlab({ host: core.url, token: String(token) })
  expect(await refusal(own.ApplicationSettings.show())).toEqual([403, '403 Forbidden'])
})
