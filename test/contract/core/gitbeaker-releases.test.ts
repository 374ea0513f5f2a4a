import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let project: number

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  project = (await root.Projects.create({ name: 'tools' })).id
  await root.Commits.create(project, 'main', 'Begin', [{ action: 'create', filePath: 'a.txt', content: 'a' }])
})

afterEach(() => core.close())

test('releases are created with their tag, read, changed and removed', async () => {
  const { ProjectReleases, ReleaseLinks } = root
  await root.ProjectMilestones.create(project, 'May')
  const made = await ProjectReleases.create(project, {
    tag_name: 'v1.0/a',
    ref: 'main',
    name: 'One',
    description: 'First',
    milestones: ['May'],
    assets: { links: [{ name: 'Tool', url: 'https://files.example.test/tool', link_type: 'package' }] },
  } as never)
  expect(made).toMatchObject({
    tag_name: 'v1.0/a',
    name: 'One',
    upcoming_release: false,
    author: { username: 'root' },
    commit: { title: 'Begin' },
    milestones: [{ title: 'May', issue_stats: { total: 0, closed: 0 } }],
    assets: { count: 5, links: [{ name: 'Tool', link_type: 'package' }] },
  })
  expect(await ProjectReleases.show(project, 'v1.0/a')).toEqual(made)
  expect((await root.Tags.all(project)).map(({ name }) => name)).toEqual(['v1.0/a'])
  const changed = await ProjectReleases.edit(project, 'v1.0/a', { name: 'Two', released_at: '2099-01-01' } as never)
  expect(changed).toMatchObject({ name: 'Two', upcoming_release: true })
  const link = await ReleaseLinks.create(project, 'v1.0/a', 'Manual', 'https://docs.example.test/', {
    directAssetPath: '/manual',
  } as never)
  expect(link.direct_asset_url).toMatch(/\/-\/releases\/v1\.0%2Fa\/downloads\/manual$/)
  await ReleaseLinks.edit(project, 'v1.0/a', link.id, { name: 'Guide' } as never)
  expect((await ReleaseLinks.all(project, 'v1.0/a')).map(({ name }) => name)).toEqual(['Guide', 'Tool'])
  await ReleaseLinks.remove(project, 'v1.0/a', link.id)
  await ProjectReleases.remove(project, 'v1.0/a')
  expect(await ProjectReleases.all(project)).toEqual([])
  expect((await root.Tags.all(project)).length).toBe(1)
})

test('merge requests are merged with a commit of its own', async () => {
  const actions = [{ action: 'create', filePath: 'b.txt', content: 'b' }] as const
  const { id: sha } = await root.Commits.create(project, 'fix', 'Fix', [...actions], { startBranch: 'main' })
  await root.MergeRequests.create(project, 'fix', 'main', 'Fix')
  const merged = await root.MergeRequests.merge(project, 1, { sha, shouldRemoveSourceBranch: true })
  expect(merged).toMatchObject({ state: 'merged', merge_user: { username: 'root' }, squash_commit_sha: null })
  expect((await root.Branches.show(project, 'main')).commit.id).toBe(merged.merge_commit_sha)
  expect((await root.Branches.all(project)).map(({ name }) => name)).toEqual(['main'])
})
