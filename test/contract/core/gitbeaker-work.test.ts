import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

const HOUR_MS = 3_600_000

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let group: number
let project: number

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  group = (await root.Groups.create('Ops', 'ops')).id
  project = (await root.Projects.create({ name: 'tools', namespaceId: group })).id
  await root.RepositoryFiles.create(project, 'README.md', 'main', '# tools\n', 'Initial commit')
})

afterEach(() => core.close())

const statusOf = (request: Promise<unknown>): Promise<number> =>
  request.then(
    () => 200,
    (error) => error.cause.response.status,
  )

describe('milestones of a group', () => {
  test('are created, shown, listed, updated and deleted', async () => {
    const spring = await root.GroupMilestones.create(group, 'Spring', {
      description: 'All that blooms',
      startDate: '2026-01-01',
      dueDate: '2026-05-31',
    })
    expect(spring).toEqual({
      id: 1,
      iid: 1,
      group_id: group,
      title: 'Spring',
      description: 'All that blooms',
      state: 'active',
      created_at: '2026-02-03T04:05:06.789Z',
      updated_at: '2026-02-03T04:05:06.789Z',
      due_date: '2026-05-31',
      start_date: '2026-01-01',
      expired: false,
      web_url: `${core.url}/groups/ops/-/milestones/1`,
    })
    const past = await root.GroupMilestones.create(group, 'Winter', { dueDate: '2026-02-01' })
    expect([past.iid, past.expired]).toEqual([2, true])
    const titles = async (options: object) => (await root.GroupMilestones.all('ops', options)).map(({ title }) => title)
    expect(await titles({})).toEqual(['Winter', 'Spring'])
    expect(await titles({ search: 'pri' })).toEqual(['Spring'])
    expect(await titles({ iids: [2] })).toEqual(['Winter'])
    expect(await titles({ title: 'Spring' })).toEqual(['Spring'])
    const closed = await root.GroupMilestones.edit(group, past.id, { stateEvent: 'close', title: 'Past winter' })
    expect(closed).toMatchObject({ id: past.id, state: 'closed', title: 'Past winter', due_date: '2026-02-01' })
    expect(await titles({ state: 'closed' })).toEqual(['Past winter'])
    expect(await titles({ state: 'active' })).toEqual(['Spring'])
    expect(await root.GroupMilestones.edit(group, past.id, { stateEvent: 'activate' })).toMatchObject({
      state: 'active',
    })
    expect(await root.GroupMilestones.show(group, spring.id)).toEqual(spring)
    await root.GroupMilestones.remove(group, spring.id)
    expect(await statusOf(root.GroupMilestones.show(group, spring.id))).toBe(404)
    expect(await titles({})).toEqual(['Past winter'])
  })

  test('have issues, merge requests and a burndown', async () => {
    const { id: milestoneId } = await root.GroupMilestones.create(group, 'Spring', {
      startDate: '2026-01-01',
      dueDate: '2026-05-31',
    })
    const one = await root.Issues.create(project, 'Sow', { milestoneId, weight: 3 })
    await root.Issues.create(project, 'Reap')
    await root.Branches.create(project, 'seeds', 'main')
    await root.MergeRequests.create(project, 'seeds', 'main', 'Seeds', { milestoneId })
    await core.advance(HOUR_MS)
    await root.Issues.edit(project, one.iid, { stateEvent: 'close' })
    await core.advance(HOUR_MS)
    await root.Issues.edit(project, one.iid, { stateEvent: 'reopen' })

    const issues = await root.GroupMilestones.allAssignedIssues(group, milestoneId)
    expect(issues.map(({ title, state, milestone }) => [title, state, milestone?.title])).toEqual([
      ['Sow', 'opened', 'Spring'],
    ])
    const mergeRequests = await root.GroupMilestones.allAssignedMergeRequests(group, milestoneId)
    expect(mergeRequests.map(({ title, source_branch }) => [title, source_branch])).toEqual([['Seeds', 'seeds']])
    expect(await root.GroupMilestones.allBurndownChartEvents(group, milestoneId)).toEqual([
      { created_at: '2026-02-03T04:05:06.789Z', weight: 3, action: 'created' },
      { created_at: '2026-02-03T05:05:06.789Z', weight: 3, action: 'closed' },
      { created_at: '2026-02-03T06:05:06.789Z', weight: 3, action: 'reopened' },
    ])
  })
})

test('milestones of a project', async () => {
  const made = await root.ProjectMilestones.create(project, 'v1', { dueDate: '2026-04-01' })
  expect(made).toMatchObject({ iid: 1, project_id: project, web_url: `${core.url}/ops/tools/-/milestones/1` })
  await root.Issues.create(project, 'Sow', { milestoneId: made.id })
  expect((await root.ProjectMilestones.allAssignedIssues(project, made.id)).map(({ title }) => title)).toEqual(['Sow'])
  expect(await root.ProjectMilestones.edit(project, made.id, { title: 'v2' })).toMatchObject({ title: 'v2' })
  await root.ProjectMilestones.remove(project, made.id)
  expect(await root.ProjectMilestones.all(project)).toEqual([])
})

test('variables', async () => {
  const made = await root.ProjectVariables.create(project, 'DEPLOY_KEY', 'a-secret-value', {
    masked: true,
    protected: true,
    environmentScope: 'production',
  })
  expect(made).toEqual({
    variable_type: 'env_var',
    key: 'DEPLOY_KEY',
    value: 'a-secret-value',
    hidden: false,
    protected: true,
    masked: true,
    raw: false,
    environment_scope: 'production',
    description: null,
  })
  await root.ProjectVariables.create(project, 'DEPLOY_KEY', 'another-value', { environmentScope: 'staging' })
  const ofStaging = { filter: { environment_scope: 'staging' } } as const
  expect(await root.ProjectVariables.show(project, 'DEPLOY_KEY', ofStaging)).toMatchObject({ value: 'another-value' })
  expect(await statusOf(root.ProjectVariables.show(project, 'DEPLOY_KEY'))).toBe(409)
  const changed = await root.ProjectVariables.edit(project, 'DEPLOY_KEY', 'changed-value', ofStaging)
  expect([changed.value, changed.environment_scope]).toEqual(['changed-value', 'staging'])
  await root.ProjectVariables.remove(project, 'DEPLOY_KEY', ofStaging)
  expect((await root.ProjectVariables.all(project)).map(({ value }) => value)).toEqual(['a-secret-value'])

  await root.GroupVariables.create(group, 'REGION', 'north', { variableType: 'file' })
  expect(await root.GroupVariables.show(group, 'REGION')).toMatchObject({ value: 'north', variable_type: 'file' })
  expect(await root.GroupVariables.edit(group, 'REGION', 'south', {} as never)).toMatchObject({ value: 'south' })
  await root.GroupVariables.remove(group, 'REGION')
  expect(await root.GroupVariables.all(group)).toEqual([])
})

test('issues', async () => {
  const { id: rootId } = await root.Users.showCurrentUser()
  const made = await root.Issues.create(project, 'Leak', {
    description: 'It drips',
    labels: 'bug,urgent',
    assigneeIds: [rootId],
    dueDate: '2026-03-01',
    confidential: true,
    weight: 2,
  })
  expect(made).toMatchObject({
    id: 1,
    iid: 1,
    project_id: project,
    title: 'Leak',
    description: 'It drips',
    state: 'opened',
    labels: ['bug', 'urgent'],
    due_date: '2026-03-01',
    confidential: true,
    weight: 2,
    author: { username: 'root' },
    assignees: [{ username: 'root' }],
    web_url: `${core.url}/ops/tools/-/issues/1`,
  })
  await root.Issues.create(project, 'Rust')
  expect((await root.Issues.all({ projectId: project, labels: 'bug' })).map(({ iid }) => iid)).toEqual([1])
  expect((await root.Issues.all({ groupId: group, search: 'rust' })).map(({ iid }) => iid)).toEqual([2])
  expect((await root.Issues.all({ scope: 'assigned_to_me' })).map(({ iid }) => iid)).toEqual([1])
  const closed = await root.Issues.edit(project, 1, { stateEvent: 'close', addLabels: 'done', removeLabels: 'urgent' })
  expect(closed).toMatchObject({ state: 'closed', labels: ['bug', 'done'], closed_by: { username: 'root' } })
  expect((await root.Issues.all({ projectId: project, state: 'opened' })).map(({ iid }) => iid)).toEqual([2])
  expect((await root.Issues.show(1, { projectId: project })).title).toBe('Leak')
  const byKeyset = { projectId: project, pagination: 'keyset', orderBy: 'created_at', sort: 'asc', perPage: 1 } as const
  expect((await root.Issues.all(byKeyset)).map(({ iid }) => iid)).toEqual([1, 2])
  await root.Issues.remove(project, 2)
  expect(await statusOf(root.Issues.show(2, { projectId: project }))).toBe(404)
})

test('merge requests', async () => {
  await root.Branches.create(project, 'fix', 'main')
  await root.RepositoryFiles.create(project, 'fix.txt', 'fix', 'tight\n', 'Tighten')
  const made = await root.MergeRequests.create(project, 'fix', 'main', 'Draft: Tighten', {
    description: 'No drips',
    labels: 'bug',
  })
  expect(made).toMatchObject({
    iid: 1,
    project_id: project,
    title: 'Draft: Tighten',
    state: 'opened',
    draft: true,
    source_branch: 'fix',
    target_branch: 'main',
    source_project_id: project,
    labels: ['bug'],
    author: { username: 'root' },
    web_url: `${core.url}/ops/tools/-/merge_requests/1`,
    references: { full: 'ops/tools!1' },
  })
  expect(await statusOf(root.MergeRequests.create(project, 'fix', 'main', 'Again'))).toBe(409)
  const edited = await root.MergeRequests.edit(project, 1, { title: 'Tighten', stateEvent: 'close' })
  expect([edited.title, edited.state, edited.draft]).toEqual(['Tighten', 'closed', false])
  expect((await root.MergeRequests.all({ projectId: project, state: 'closed' })).map(({ iid }) => iid)).toEqual([1])
  expect((await root.MergeRequests.all({ groupId: group, state: 'opened' })).length).toBe(0)
  expect((await root.MergeRequests.show(project, 1)).title).toBe('Tighten')
  await root.MergeRequests.remove(project, 1)
  expect(await statusOf(root.MergeRequests.show(project, 1))).toBe(404)
})

test('labels', async () => {
  const made = await root.ProjectLabels.create(project, 'bug', '#d9534f', { description: 'Broken', priority: 1 })
  expect(made).toMatchObject({
    name: 'bug',
    color: '#d9534f',
    description: 'Broken',
    priority: 1,
    is_project_label: true,
  })
  expect((await root.ProjectLabels.edit(project, 'bug', { newName: 'defect' })).name).toBe('defect')
  expect((await root.ProjectLabels.all(project)).map(({ name }) => name)).toEqual(['defect'])
  const other = await root.ProjectLabels.create(project, 'leak', '#d9534f')
  const promoted = await root.ProjectLabels.promote(project, other.id)
  expect([promoted.name, promoted.id === other.id]).toEqual(['leak', false])
  expect((await root.GroupLabels.all(group)).map(({ name }) => name)).toEqual(['leak'])
  await root.GroupLabels.remove(group, 'leak')
  await root.ProjectLabels.remove(project, 'defect')
  expect(await root.ProjectLabels.all(project)).toEqual([])
  expect((await root.GroupLabels.create(group, 'wide', '#00f')).name).toBe('wide')
})

test('pipelines, their jobs and bridges', async () => {
  const put = (pipeline: number, body: object) =>
    fetch(`${core.url}/api/v4/projects/${project}/pipeline_records/${pipeline}`, {
      method: 'PUT',
      headers: { 'PRIVATE-TOKEN': core.rootToken, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const run = { id: 31, iid: 1, status: 'failed', ref: 'main', sha: 'a1', source: 'push', tag: false }
  const times = { created_at: '2026-02-03 04:00:00 UTC', finished_at: '2026-02-03 04:02:00 UTC', duration: 63 }
  const home = { id: 9, path_with_namespace: 'g/p' }
  const builds = [
    { id: 380, name: 'compile', stage: 'build', status: 'success', duration: 1.5 },
    { id: 382, name: 'unit', stage: 'test', status: 'failed', failure_reason: 'script_failure', runner: { id: 6 } },
  ]
  const bridges = [{ id: 381, name: 'deploy', stage: 'deploy', status: 'success' }]
  expect((await put(31, { object_attributes: { ...run, ...times }, project: home, builds, bridges })).status).toBe(201)
  const child = { id: 32, status: 'running', ref: 'main', source: 'parent_pipeline' }
  const from = { pipeline_id: 31, job_id: 381, project: home }
  expect((await put(32, { object_attributes: child, project: home, source_pipeline: from })).status).toBe(201)

  expect((await root.Pipelines.all(project)).map(({ id }) => id)).toEqual([31])
  const children = await root.Pipelines.all(project, { source: 'parent_pipeline' })
  expect(children.map(({ id }) => id)).toEqual([32])
  expect((await root.Pipelines.all(project, { scope: 'finished' })).map(({ id }) => id)).toEqual([31])
  expect((await root.Pipelines.all(project, { perPage: 1 })).map(({ id }) => id)).toEqual([31])
  const shown = await root.Pipelines.show(project, 31)
  expect(shown).toMatchObject({
    ...run,
    project_id: project,
    created_at: '2026-02-03T04:00:00.000Z',
    finished_at: '2026-02-03T04:02:00.000Z',
    duration: 63,
    detailed_status: { text: 'Failed', label: 'failed', group: 'failed', icon: 'status_failed' },
    web_url: `${core.url}/ops/tools/-/pipelines/31`,
  })
  expect(await root.Pipelines.show(project, 'latest', { ref: 'main' })).toMatchObject({ id: 31 })

  expect((await root.Jobs.all(project, { pipelineId: 31 })).map(({ name }) => name)).toEqual(['unit', 'compile'])
  expect((await root.Jobs.all(project, { scope: 'failed' })).map(({ id }) => id)).toEqual([382])
  expect((await root.Jobs.all(project, { pagination: 'keyset', perPage: 1 })).map(({ id }) => id)).toEqual([382, 380])
  expect(await root.Jobs.show(project, 382)).toMatchObject({
    stage: 'test',
    failure_reason: 'script_failure',
    runner: { id: 6 },
    pipeline: { id: 31, status: 'failed' },
  })
  const [deploy] = await root.Jobs.allPipelineBridges(project, 31)
  expect(deploy).toMatchObject({ id: 381, name: 'deploy', downstream_pipeline: { id: 32, status: 'running' } })

  await root.Pipelines.remove(project, 31)
  expect(await statusOf(root.Pipelines.show(project, 31))).toBe(404)
  expect(await statusOf(root.Jobs.show(project, 382))).toBe(404)
})

describe('repositories', () => {
  test('commits and their diffs', async () => {
    const made = await root.Commits.create(project, 'main', 'Two files\n\nand why', [
      { action: 'create', filePath: 'src/a.txt', content: 'a\n' },
      { action: 'create', filePath: 'src/b.bin', content: 'AAEC', encoding: 'base64' },
    ])
    expect(made).toMatchObject({
      title: 'Two files',
      message: 'Two files\n\nand why',
      author_name: 'Administrator',
      stats: { additions: 1, deletions: 0, total: 1 },
    })
    expect(made.id).toMatch(/^[0-9a-f]{40}$/)
    const log = await root.Commits.all(project, { refName: 'main' })
    expect(log.map(({ title }) => title)).toEqual(['Two files', 'Initial commit'])
    expect(made.parent_ids).toEqual([log[1]!.id])
    expect((await root.Commits.show(project, String(made.short_id))).id).toBe(made.id)
    const diffs = await root.Commits.showDiff(project, made.id)
    expect(diffs.map(({ new_path, new_file }) => [new_path, new_file])).toEqual([
      ['src/a.txt', true],
      ['src/b.bin', true],
    ])
    expect(diffs[0]!.diff).toBe('@@ -0,0 +1 @@\n+a\n')
    expect((await root.Commits.all(project, { perPage: 1 })).length).toBe(2)
  })

  test('branches and tags, including names with a slash', async () => {
    const made = await root.Branches.create(project, 'feature/one', 'main')
    expect(made).toMatchObject({ name: 'feature/one', default: false, protected: false, can_push: true })
    expect((await root.Branches.show(project, 'feature/one')).commit.title).toBe('Initial commit')
    expect((await root.Branches.all(project, { search: 'feat' })).map(({ name }) => name)).toEqual(['feature/one'])
    await root.Branches.remove(project, 'feature/one')
    expect(await statusOf(root.Branches.show(project, 'feature/one'))).toBe(404)

    const tag = await root.Tags.create(project, 'release/1.0', 'main', { message: 'The first' })
    expect(tag).toMatchObject({ name: 'release/1.0', message: 'The first', release: null, protected: false })
    expect(tag.commit.title).toBe('Initial commit')
    expect((await root.Tags.show(project, 'release/1.0')).target).toBe(tag.target)
    await root.Tags.create(project, 'light', 'main')
    expect((await root.Tags.all(project, { orderBy: 'name', sort: 'asc' })).map(({ name }) => name)).toEqual([
      'light',
      'release/1.0',
    ])
    await root.Tags.remove(project, 'release/1.0')
    expect(await statusOf(root.Tags.show(project, 'release/1.0'))).toBe(404)
  })

  test('files and trees', async () => {
    const made = await root.RepositoryFiles.create(project, 'docs/näh.md', 'main', 'Grüße\n', 'Add it')
    expect(made).toEqual({ file_path: 'docs/näh.md', branch: 'main' })
    const shown = await root.RepositoryFiles.show(project, 'docs/näh.md', 'main')
    expect(shown).toMatchObject({
      file_name: 'näh.md',
      file_path: 'docs/näh.md',
      size: 8,
      encoding: 'base64',
      ref: 'main',
      execute_filemode: false,
    })
    expect(Buffer.from(shown.content, 'base64').toString()).toBe('Grüße\n')
    expect(await root.RepositoryFiles.showRaw(project, 'docs/näh.md', 'main')).toBe('Grüße\n')
    await root.RepositoryFiles.edit(project, 'docs/näh.md', 'main', 'Gruß\n', 'Change it')
    expect(await root.RepositoryFiles.showRaw(project, 'docs/näh.md', 'main')).toBe('Gruß\n')
    const tree = await root.Repositories.allRepositoryTrees(project, { recursive: true })
    expect(tree.map(({ path, type }) => [path, type])).toEqual([
      ['docs', 'tree'],
      ['README.md', 'blob'],
      ['docs/näh.md', 'blob'],
    ])
    await root.RepositoryFiles.remove(project, 'docs/näh.md', 'main', 'Remove it')
    expect(await statusOf(root.RepositoryFiles.show(project, 'docs/näh.md', 'main'))).toBe(404)
  })
})
