import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { inSteps } from './change-context.harness.ts'
import { initializeRepository } from './commit-to-branch.ts'
import { GitHistory } from './git-history.harness.ts'
import { cherryPickCommit, revertCommit } from './pick-operations.ts'

let world: World
let mira: User
let project: Project
let history: GitHistory

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
  history = await GitHistory.create(world, project)
})

afterEach(() => world.close())

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('')
const numbers = (changed: Record<number, string> = {}) =>
  text(...Array.from({ length: 12 }, (_, index) => changed[index] ?? `line ${index}`))
const git = (...args: string[]) => history.git(...args)
const cherryPick = (sha: string, more: object = {}) =>
  world.perform(mira, cherryPickCommit, { project: project.id, sha, branch: 'main', ...more })
const revert = (sha: string, more: object = {}) =>
  world.perform(mira, revertCommit, { project: project.id, sha, branch: 'main', ...more })
const failure = (answer: Promise<unknown>) =>
  answer.then(
    () => expect.fail('should be rejected'),
    (error: DomainError) => error.failure,
  )

/** Creates `main` and `side`, each with one commit since their common one, and returns the commit of `side`. */
function twoBranches(onMain: Record<string, string | null>, onSide: Record<string, string | null>): string {
  history.commit({ 'a.txt': numbers(), 'docs/b.txt': 'b\n', 'run.sh': 'run\n' }, 'Begin')
  git('checkout', '--quiet', '-b', 'side')
  const side = history.commit(onSide, 'Change on the side\n\nWith a reason')
  git('checkout', '--quiet', 'main')
  history.commit(onMain, 'Change on main')
  return side
}

test('a commit is repeated on a branch, with its author and a note where it comes from', async () => {
  const side = twoBranches(
    { 'a.txt': numbers({ 0: 'first' }), 'main.txt': 'm\n' },
    { 'a.txt': numbers({ 11: 'last' }), 'docs/b.txt': null, 'docs/deep/c.txt': 'c\n' },
  )
  const tip = git('rev-parse', 'main')
  const { commit } = await cherryPick('side')
  expect(commit).toMatchObject({
    parentShas: [tip],
    message: `Change on the side\n\nWith a reason\n\n(cherry picked from commit ${side})`,
    author: { name: 'Mira', email: 'mira@example.test', atSeconds: 1_770_000_120 },
    committer: { name: 'mira Holt', atSeconds: 1_770_091_506 },
  })
  expect(git('rev-parse', 'main')).toBe(commit!.sha)
  expect(git('show', 'main:a.txt')).toBe(numbers({ 0: 'first', 11: 'last' }).trimEnd())
  expect(git('ls-tree', '-r', '--name-only', 'main')).toBe('a.txt\ndocs/deep/c.txt\nmain.txt\nrun.sh')
  expect(git('fsck', '--strict', '--full')).toBe('')
  const events = await world.core.db.read.selectFrom('events').selectAll().execute()
  expect(events.map(({ type, details }) => [type, JSON.parse(details)])).toContainEqual([
    'repository.pushed',
    { ref: 'refs/heads/main', before: tip, after: commit!.sha },
  ])
})

test('the tree is the one that git cherry-pick makes', async () => {
  const side = twoBranches(
    { 'a.txt': numbers({ 1: 'ours', 2: 'ours' }), 'docs/b.txt': 'b\nmore\n', 'only-main.txt': 'x\n' },
    { 'a.txt': numbers({ 5: 'theirs', 8: 'theirs' }), 'new/deep/file.txt': 'n\n', 'run.sh': null },
  )
  git('checkout', '--quiet', '-b', 'expected')
  git('cherry-pick', side)
  const expected = git('rev-parse', 'expected^{tree}')
  await cherryPick(side)
  expect(git('rev-parse', 'main^{tree}')).toBe(expected)
})

test('a message of the caller replaces the one of the commit', async () => {
  const side = twoBranches({ 'main.txt': 'm\n' }, { 'side.txt': 's\n' })
  expect((await cherryPick(side, { message: 'Bring the side over' })).commit).toMatchObject({
    message: 'Bring the side over',
  })
})

test('a commit is reverted, and the revert too', async () => {
  const first = history.commit({ 'a.txt': numbers(), 'b.txt': 'b\n' }, 'Begin')
  const change = history.commit({ 'a.txt': numbers({ 3: 'x' }), 'b.txt': null, 'c.txt': 'c\n' }, 'Add "c"')
  history.commit({ 'a.txt': numbers({ 3: 'x', 9: 'later' }) }, 'Later')
  const later = git('rev-parse', 'main^{tree}')
  const { commit } = await revert(change)
  expect(commit).toMatchObject({
    title: 'Revert "Add "c""',
    message: `Revert "Add "c""\n\nThis reverts commit ${change}`,
    author: { name: 'mira Holt' },
  })
  expect(git('show', 'main:a.txt')).toBe(numbers({ 9: 'later' }).trimEnd())
  expect(git('ls-tree', '--name-only', 'main')).toBe('a.txt\nb.txt')
  await revert(commit!.sha)
  expect(git('rev-parse', 'main^{tree}')).toBe(later)
  expect(await failure(revert(first))).toMatchObject({ code: 'refused', errorCode: 'conflict' })
})

test('a merge counts with its changes against its first parent', async () => {
  twoBranches({ 'main.txt': 'm\n' }, { 'side.txt': 's\n' })
  const merge = history.merge('side')
  await revert(merge)
  expect(git('ls-tree', '-r', '--name-only', 'main')).toBe('a.txt\ndocs/b.txt\nmain.txt\nrun.sh')
})

test.each<[string, Record<string, string | null>, Record<string, string | null>]>([
  ['the same line', { 'a.txt': numbers({ 5: 'ours' }) }, { 'a.txt': numbers({ 5: 'theirs' }) }],
  ['a file that was removed', { 'a.txt': null }, { 'a.txt': numbers({ 5: 'theirs' }) }],
  ['a file in place of a directory', { new: 'file\n' }, { 'new/file.txt': 'x\n' }],
  ['the same new file', { 'new.txt': 'ours\n' }, { 'new.txt': 'theirs\n' }],
  ['a binary file', { 'docs/b.txt': 'b\0ours' }, { 'docs/b.txt': 'b\0theirs' }],
])('a conflict is reported and changes nothing: %s', async (_, onMain, onSide) => {
  const side = twoBranches(onMain, onSide)
  const tip = git('rev-parse', 'main')
  const refusal = {
    code: 'refused',
    message:
      'Sorry, we cannot cherry-pick this commit automatically. This commit may already have been cherry-picked, ' +
      'or a more recent commit may have updated some of its content.',
    errorCode: 'conflict',
  }
  expect(await failure(cherryPick(side))).toEqual(refusal)
  expect(await failure(cherryPick(side, { dryRun: true }))).toEqual(refusal)
  expect(git('rev-parse', 'main')).toBe(tip)
})

test('changes that the branch has already are reported as empty', async () => {
  const side = twoBranches({ 'a.txt': numbers({ 5: 'same' }) }, { 'a.txt': numbers({ 5: 'same' }) })
  expect(await failure(cherryPick(side))).toMatchObject({ code: 'refused', errorCode: 'empty' })
})

test('a trial stores nothing', async () => {
  const side = twoBranches({ 'main.txt': 'm\n' }, { 'side.txt': 's\n', 'a.txt': numbers({ 1: 'x' }) })
  const objects = git('count-objects', '-v')
  expect(await cherryPick(side, { dryRun: true })).toEqual({ commit: undefined })
  expect(await revert('main', { dryRun: true })).toEqual({ commit: undefined })
  expect(git('count-objects', '-v')).toBe(objects)
})

test('commit and branch must exist, and the caller must be allowed to push', async () => {
  twoBranches({ 'main.txt': 'm\n' }, { 'side.txt': 's\n' })
  expect(await failure(cherryPick('missing'))).toEqual({ code: 'not_found', what: 'Commit' })
  expect(await failure(cherryPick('side', { branch: 'missing' }))).toEqual({ code: 'not_found', what: 'Branch' })
  expect(await failure(cherryPick('side', { branch: 'bad..name' }))).toEqual({
    code: 'refused',
    message: 'The branch refname is invalid',
  })
  const noor = await world.user('noor')
  await world.member(project, noor, accessLevels.reporter)
  const input = { project: project.id, sha: 'side', branch: 'main' }
  expect(await failure(world.perform(noor, cherryPickCommit, input))).toEqual({ code: 'forbidden' })
  const empty = await world.project('empty', mira)
  expect(await failure(world.perform(mira, revertCommit, { ...input, project: empty.id }))).toEqual({
    code: 'not_found',
    what: 'Commit',
  })
  await inSteps(world.core, mira, (context) => initializeRepository(context, empty, mira))
  expect(await world.perform(mira, revertCommit, { ...input, project: empty.id, sha: 'main' })).toMatchObject({
    commit: { title: 'Revert "Initial commit"' },
  })
})
