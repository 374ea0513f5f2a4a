import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBranch, removeBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { createTag } from '../../code/repositories/tag-operations.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import type { EventListener } from './context.ts'
import type { DomainEvent } from './event.ts'
import type { InputSchema, Operation } from './operation.ts'
import { perform } from './perform.ts'

let world: World
let mira: User
let project: Project
let heard: DomainEvent[]

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, accessLevels.maintainer)
  heard = []
})
afterEach(() => world.close())

const listener: EventListener = {
  types: new Set(['repository.pushed']),
  async onEvent(_, event) {
    heard.push(event)
  },
}

function run<Input extends InputSchema, Result>(operation: Operation<Input, Result>, input: object) {
  return perform({ ...world.core, listeners: [listener] }, mira, operation, { project: project.id, ...input })
}

let files = 0
async function commit(branch: string, message: string, rest: object = {}): Promise<string> {
  await world.clock.advance(1_000)
  files += 1
  const actions = [{ action: 'create', filePath: `${files}.txt`, content: 'x' }]
  return (await run(createCommit, { branch, commitMessage: message, actions, ...rest })).sha
}

/** Returns the last push, with the messages of its commits. */
function lastPush() {
  const { commits, ...push } = heard.at(-1)!.push!
  return { ...push, messages: commits.map(({ message }) => message) }
}

test('a push has the former and the new commit, and the commits in between', async () => {
  const first = await commit('main', 'one')
  const push = { ref: 'refs/heads/main', before: undefined, after: first, total: 1, messages: ['one'] }
  expect(lastPush()).toEqual(push)
  expect(heard.at(-1)).toMatchObject({ actorId: mira.id, projectId: project.id })
  const second = await commit('main', 'two')
  expect(lastPush()).toEqual({ ...push, before: first, after: second, messages: ['two'] })
})

test('a new branch has the commits that the default branch has not', async () => {
  const first = await commit('main', 'one')
  const branch = { ref: 'refs/heads/feature', before: undefined }
  const own = await commit('feature', 'two', { startBranch: 'main' })
  expect(lastPush()).toEqual({ ...branch, after: own, total: 1, messages: ['two'] })
  await run(createBranch, { branch: 'copy', ref: 'feature' })
  expect(lastPush()).toEqual({ ref: 'refs/heads/copy', before: undefined, after: own, total: 1, messages: ['two'] })
  await run(removeBranch, { branch: 'copy' })
  expect(lastPush()).toEqual({ ref: 'refs/heads/copy', before: own, after: undefined, total: 0, messages: [] })
  await run(createTag, { tagName: 'v1', ref: 'main' })
  expect(lastPush()).toEqual({ ref: 'refs/tags/v1', before: undefined, after: first, total: 0, messages: [] })
})

test('the newest 20 commits are listed, the oldest first, and all are counted', async () => {
  await commit('main', 'base')
  await run(createBranch, { branch: 'old', ref: 'main' })
  for (let index = 1; index <= 23; index += 1) await commit('main', `c${index}`)
  const tip = await commit('old', 'c24', { startBranch: 'main', force: true })
  const { total, messages, after } = lastPush()
  expect([total, after, messages.length, messages[0], messages.at(-1)]).toEqual([24, tip, 20, 'c5', 'c24'])
  const [stored] = await world.core.db.read
    .selectFrom('events')
    .select('details')
    .orderBy('id', 'desc')
    .limit(1)
    .execute()
  expect(Object.keys(JSON.parse(stored!.details))).toEqual(['ref', 'before', 'after'])
})
