import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let project: number

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  const group = (await root.Groups.create('Ops', 'ops')).id
  project = (await root.Projects.create({ name: 'tools', namespaceId: group })).id
  await root.RepositoryFiles.create(project, 'README.md', 'main', '# tools\n', 'Initial commit')
  await root.Branches.create(project, 'side', 'main')
})
afterEach(() => core.close())

const refusalOf = (request: Promise<unknown>) =>
  request.then(
    () => expect.fail('should be refused'),
    (error) => [error.cause.response.status, error.cause.description],
  )

test('commits are cherry-picked and reverted', async () => {
  const action = { action: 'create', filePath: 'a.txt', content: 'a\n' } as const
  const { id } = await root.Commits.create(project, 'side', 'Add a', [action])
  expect(await root.Commits.cherryPick(project, id, 'main', { dryRun: true })).toEqual({ dry_run: 'success' })
  const picked = await root.Commits.cherryPick(project, id, 'main', { message: 'Bring a' })
  expect(picked).toMatchObject({ title: 'Bring a', author_name: 'Administrator' })
  expect(await root.Commits.revert(project, picked.id, 'main', { dryRun: true })).toEqual({ dry_run: 'success' })
  const reverted = await root.Commits.revert(project, picked.id, 'main')
  expect(reverted.message).toBe(`Revert "Bring a"\n\nThis reverts commit ${picked.id}`)
  const body = { branch: 'main' }
  const again = await fetch(`${core.url}/api/v4/projects/${project}/repository/commits/${picked.id}/revert`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': core.rootToken, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([again.status, await again.json()]).toEqual([
    400,
    {
      message:
        'Sorry, we cannot revert this commit automatically. This commit may already have been reverted, or a more ' +
        'recent commit may have updated some of its content.',
      error_code: 'empty',
    },
  ])
})

test('statuses of commits are posted and listed', async () => {
  const { id: sha } = await root.Commits.show(project, 'main')
  const made = await root.Commits.editStatus(project, sha, 'running', { name: 'lint', ref: 'main' })
  expect(made).toMatchObject({ sha, name: 'lint', status: 'running', ref: 'main', author: { username: 'root' } })
  expect(await refusalOf(root.Commits.editStatus(project, sha, 'running', { name: 'lint' }))).toEqual([
    400,
    'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")',
  ])
  await root.Commits.editStatus(project, sha, 'success', { context: 'lint', description: 'Clean' })
  expect(await root.Commits.allStatuses(project, sha)).toMatchObject([
    { id: made.id, status: 'success', description: 'Clean', pipeline_id: made.pipeline_id },
  ])
  expect(await root.Pipelines.show(project, Number(made.pipeline_id))).toMatchObject({
    status: 'success',
    source: 'external',
  })
})

test('issues and the merge requests that close them are found from each other', async () => {
  const issue = await root.Issues.create(project, 'Leak')
  const options = { description: `Closes #${issue.iid}` }
  const { iid } = await root.MergeRequests.create(project, 'side', 'main', 'Fix', options)
  const iids = (items: readonly { iid: number }[]) => items.map((each) => each.iid)
  expect(iids(await root.MergeRequests.allIssuesClosed(project, iid))).toEqual([issue.iid])
  expect(iids(await root.Issues.allClosedByMergeRequestst(project, issue.iid))).toEqual([iid])
  expect(iids(await root.Issues.allRelatedMergeRequests(project, issue.iid))).toEqual([iid])
})

test('a commit has its place in the history, its merge requests, and no signature', async () => {
  const action = { action: 'create', filePath: 'a.txt', content: 'a\n' } as const
  const { id } = await root.Commits.create(project, 'side', 'Add a', [action])
  const { iid } = await root.MergeRequests.create(project, 'side', 'main', 'Fix')
  expect(await root.Commits.showSequence(project, id)).toEqual({ count: 2 })
  expect(await root.Commits.allMergeRequests(project, id)).toMatchObject([{ iid, title: 'Fix' }])
  expect(await root.Commits.allMergeRequests(project, 'main')).toEqual([])
  expect(await refusalOf(root.Commits.showGPGSignature(project, id))).toEqual([404, '404 Signature Not Found'])
})

test('namespaces have their counts, and activities their days', async () => {
  const [ops] = (await root.Namespaces.all()).filter(({ kind }) => kind === 'group')
  expect(ops).toMatchObject({ path: 'ops', members_count_with_descendants: 1, projects_count: 1 })
  expect(await root.Namespaces.exists('ops')).toMatchObject({ exists: true })
  expect(await root.Users.allActivities()).toMatchObject([{ username: 'root', last_activity_on: '2026-02-03' }])
})
