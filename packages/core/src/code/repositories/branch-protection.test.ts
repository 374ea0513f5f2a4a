import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { updateApplicationSettings } from '../../base/settings/settings-operations.ts'
import { createGroup, updateGroup } from '../../identity/namespaces/group-operations.ts'
import { mergeMergeRequest } from '../../work/merge-requests/merge-request-merge.ts'
import { createMergeRequest, getProjectMergeRequest } from '../../work/merge-requests/merge-request-operations.ts'
import { getBranch, removeBranch } from './branch-operations.ts'
import { createCommit } from './commit-operations.ts'
import { createFile, removeFile, updateFile } from './file-operations.ts'
import { cherryPickCommit, revertCommit } from './pick-operations.ts'

let world: World
let root: User
let mira: User
let dev: User
let group: Group
let project: Project
const refusal = 'You are not allowed to push into this branch'
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ failure }) => failure.reason ?? failure.code,
  )

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  dev = await world.user('dev')
  group = await world.group('ops', { visibility: 'public' })
  project = await newProject('tools')
  await commit(mira, { branch: 'main', path: 'a.txt' })
})
afterEach(() => world.close())

async function newProject(path: string): Promise<Project> {
  const created = await world.project(path, group, 'public')
  await world.member(created, mira, accessLevels.maintainer)
  await world.member(created, dev, accessLevels.developer)
  return created
}
const protect = (defaultBranchProtection: number) =>
  world.perform(root, updateGroup, { group: group.id, defaultBranchProtection })
function commit(
  actor: User,
  { branch, path, start, at = project, ...more }: Record<string, unknown> & { at?: Project; path: string },
) {
  const input = { project: at.id, branch, startBranch: start, commitMessage: `Add ${path}`, ...more }
  return world.perform(actor, createCommit, {
    ...input,
    actions: [{ action: 'create', filePath: path, content: '1\n' }],
  })
}

const rules = [
  { value: 0, pushes: 'done', merges: 'done', first: 'done', forced: 'done' },
  { value: 1, pushes: 'done', merges: 'done', first: 'done', forced: refusal },
  { value: 2, pushes: refusal, merges: 'unauthenticated', first: refusal, forced: refusal },
  { value: 3, pushes: refusal, merges: 'done', first: refusal, forced: refusal },
  { value: 4, pushes: refusal, merges: 'unauthenticated', first: 'done', forced: refusal },
]

test.each(rules)('protection $value decides about every change of Developers', async ({ value, ...expected }) => {
  await protect(value)
  const { sha } = await commit(dev, { branch: 'fix', path: 'fix.txt', start: 'main' })
  const file = { project: project.id, branch: 'main', filePath: 'f.txt', content: 'f', commitMessage: 'Change f' }
  const pushes = [
    () => commit(dev, { branch: 'main', path: 'b.txt' }),
    () => world.perform(dev, createFile, file),
    () => world.perform(dev, updateFile, { ...file, filePath: 'a.txt' }),
    () => world.perform(dev, removeFile, { ...file, filePath: 'a.txt' }),
    () => world.perform(dev, cherryPickCommit, { project: project.id, sha, branch: 'main' }),
    () => world.perform(dev, revertCommit, { project: project.id, sha: 'main', branch: 'main' }),
  ]
  for (const push of pushes) expect(await outcome(push())).toBe(expected.pushes)

  await commit(dev, { branch: 'other', path: 'other.txt', start: 'main' })
  const draft = { project: project.id, title: 'Fix', sourceBranch: 'other', targetBranch: 'main' }
  await world.perform(dev, createMergeRequest, draft)
  const one = { project: project.id, mergeRequestIid: 1 }
  expect((await world.perform(dev, getProjectMergeRequest, one)).canMerge).toBe(expected.merges === 'done')
  expect(await outcome(world.perform(dev, mergeMergeRequest, one))).toBe(expected.merges)

  const forced = { branch: 'main', start: 'fix', force: true }
  expect(await outcome(commit(dev, { ...forced, path: 'dev.txt' }))).toBe(expected.forced)
  expect(await outcome(commit(mira, { ...forced, path: 'mira.txt' }))).toBe(expected.forced)
  expect(await outcome(world.perform(mira, removeBranch, { project: project.id, branch: 'main' }))).toBe('protected')

  const at = await newProject('empty')
  expect(await outcome(commit(dev, { at, branch: 'main', path: 'a.txt' }))).toBe(expected.first)
})

test.each(rules)(
  'protection $value is shown with the branch, and leaves Maintainers and other branches alone',
  async (rule) => {
    await protect(rule.value)
    const show = (actor: User, branch: string) => world.perform(actor, getBranch, { project: project.id, branch })
    expect(await show(dev, 'main')).toMatchObject({
      isProtected: rule.value > 0,
      canPush: rule.pushes === 'done',
      developersCanPush: rule.value > 0 && rule.pushes === 'done',
      developersCanMerge: rule.value > 0 && rule.merges === 'done',
    })
    await commit(mira, { branch: 'main', path: 'm.txt' })
    await commit(dev, { branch: 'fix', path: 'd.txt', start: 'main' })
    await commit(dev, { branch: 'fix', path: 'e.txt', start: 'main', force: true })
    expect(await show(dev, 'fix')).toMatchObject({ isProtected: false, canPush: true, developersCanPush: false })
    await world.perform(dev, removeBranch, { project: project.id, branch: 'fix' })
  },
)

test('new groups get the value of the instance, which also decides if groups may not set their own', async () => {
  const set = (changes: object) => world.perform(root, updateApplicationSettings, changes)
  await set({ default_branch_protection: 1 })
  const created = await world.perform(root, createGroup, { name: 'new', path: 'new' })
  expect(created.settings.defaultBranchProtection).toBe(1)
  const push = (path: string) => outcome(commit(dev, { branch: 'main', path }))
  expect(await push('1.txt')).toBe(refusal)
  await set({ group_owners_can_manage_default_branch_protection: false })
  expect(await push('1.txt')).toBe('done')
})
