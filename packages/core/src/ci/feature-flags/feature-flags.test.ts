import { expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import { inProjectWorld, mira, project, world } from '../../identity/projects/project-world.harness.ts'
import {
  createFeatureFlag,
  getFeatureFlag,
  listFeatureFlags,
  removeFeatureFlag,
  updateFeatureFlag,
} from './feature-flag-operations.ts'
import { createUserList, listUserLists, removeUserList, updateUserList } from './user-list-operations.ts'

const failure = (error: DomainError) => error.failure
inProjectWorld('developer')

const add = (name: string, more: object = {}) =>
  world.perform(mira, createFeatureFlag, { project: project.id, name, ...more })
const change = (featureFlagName: string, changes: object) =>
  world.perform(mira, updateFeatureFlag, { project: project.id, featureFlagName, ...changes })
const addList = (name: string, userXids: string, on: Project = project) =>
  world.perform(mira, createUserList, { project: on.id, name, userXids })

test('flags have unique names, and are listed by name and state', async () => {
  expect(await add('beta', { description: 'New' })).toMatchObject({ iid: 1, active: true, strategies: [] })
  await add('alpha', { active: false })
  expect(await add('beta').catch(failure)).toEqual({ code: 'invalid', fields: { name: ['has already been taken'] } })
  expect(await add('Beta').catch(failure)).toMatchObject({ code: 'invalid' })
  const names = async (filter: object) =>
    (await world.perform(mira, listFeatureFlags, { project: project.id, ...filter })).items.map(({ name }) => name)
  expect(await names({})).toEqual(['alpha', 'beta'])
  expect(await names({ scope: 'enabled' })).toEqual(['beta'])
  expect(await names({ scope: 'disabled' })).toEqual(['alpha'])
  await change('beta', { name: 'gamma', active: false })
  expect(await names({ scope: 'disabled' })).toEqual(['alpha', 'gamma'])
  await world.perform(mira, removeFeatureFlag, { project: project.id, featureFlagName: 'alpha' })
  expect(await change('alpha', {}).catch(failure)).toEqual({ code: 'not_found' })
})

test('strategies and scopes are added, changed and ended by their ids', async () => {
  const userWithId = { name: 'userWithId', parameters: { userIds: '1,2' }, scopes: [{ environmentScope: '*' }] }
  const made = await add('beta', { strategies: [userWithId, { name: 'default', parameters: {} }] })
  expect(made.strategies).toMatchObject([
    { name: 'userWithId', parameters: { userIds: '1,2' }, scopes: [{ environmentScope: '*' }] },
    { name: 'default', parameters: {}, scopes: [] },
  ])
  const [first, second] = made.strategies
  const changed = await change('beta', {
    strategies: [
      {
        id: first!.id,
        name: 'gradualRolloutUserId',
        parameters: { groupId: 'default', percentage: '30' },
        scopes: [{ id: first!.scopes[0]!.id, Destroy: true }, { environmentScope: 'production' }],
      },
      { id: second!.id, Destroy: true },
      { name: 'flexibleRollout', parameters: '{"groupId":"default","rollout":"100","stickiness":"random"}' },
    ],
  })
  expect(changed.strategies).toMatchObject([
    { id: first!.id, name: 'gradualRolloutUserId', scopes: [{ environmentScope: 'production' }] },
    { name: 'flexibleRollout', parameters: { rollout: '100' }, scopes: [] },
  ])
  const again = { project: project.id, featureFlagName: 'beta' }
  expect(await world.perform(mira, getFeatureFlag, again)).toEqual(changed)
  expect(await change('beta', { strategies: [{ id: second!.id, name: 'default' }] }).catch(failure)).toEqual({
    code: 'not_found',
  })
})

test.each([
  [{ name: 'other', parameters: {} }, 'name strategy name is invalid'],
  [{ name: 'default', parameters: { a: 'b' } }, 'parameters are invalid'],
  [{ name: 'userWithId', parameters: { userIds: '1,1' } }, /^parameters userIds must be a string of unique/],
  [
    { name: 'gradualRolloutUserId', parameters: { groupId: 'default', percentage: '101' } },
    'parameters percentage must be a string between 0 and 100 inclusive',
  ],
  [
    { name: 'flexibleRollout', parameters: { groupId: 'X', rollout: '5', stickiness: 'userId' } },
    'parameters groupId parameter is invalid',
  ],
  [{ name: 'gitlabUserList', parameters: {} }, "user list can't be blank"],
  [{ name: 'gitlabUserList', parameters: {}, userListId: 99 }, 'user list must belong to the same project'],
  [
    { name: 'default', parameters: {}, scopes: [{ environmentScope: 'a' }, { environmentScope: 'a' }] },
    'scopes environment scope has already been taken',
  ],
])('the strategy %j is refused', async (strategy, message) => {
  const refused = await add('beta', { strategies: [strategy] }).catch(failure)
  expect(refused).toEqual({ code: 'invalid', fields: { strategies: [expect.stringMatching(message)] } })
})

test('strategies and scopes that are added together get ids of their own', async () => {
  const scopes = ['a', 'b', 'c'].map((environmentScope) => ({ environmentScope }))
  const { strategies } = await add('beta', { strategies: Array(3).fill({ name: 'default', parameters: {}, scopes }) })
  expect(strategies.map((each) => each.scopes.map((scope) => scope.environmentScope))).toEqual(
    Array(3).fill(['a', 'b', 'c']),
  )
  expect(new Set(strategies.flatMap((each) => each.scopes.map(({ id }) => id))).size).toBe(9)
  const more = await change('beta', { strategies: [{ name: 'default', parameters: {}, scopes }] })
  expect(more.strategies.slice(0, 3)).toEqual(strategies)
  expect(new Set(more.strategies.map(({ id }) => id)).size).toBe(4)
})

test.each([
  ['a NUL', 'invalid', JSON.stringify({ userIds: 'a\0b' })],
  ['an unpaired surrogate', 'invalid', JSON.stringify({ userIds: 'a\ud800' })],
  ['a reserved name', 'parameters', '{"userIds":"a","__proto__":"b"}'],
  ['a reserved name, as an object', 'parameters', JSON.parse('{"userIds":"a","__proto__":"b"}')],
  ['too much text', 'parameters', `{"userIds":"a"${' '.repeat(200_000)}}`],
])('parameters with %s are refused', async (_, code, parameters) => {
  const strategies = [{ name: 'userWithId', parameters }]
  expect(await add('beta', { strategies }).catch(failure)).toMatchObject({ code })
})

test('a list of users stays while a strategy uses it', async () => {
  const list = await addList('Testers', 'a,b')
  expect(await addList('Testers', 'c').catch(failure)).toMatchObject({ code: 'invalid' })
  expect(await addList('Others', 'c,,d').catch(failure)).toMatchObject({ code: 'invalid' })
  const on = { project: project.id, iid: list.iid }
  const used = await add('beta', { strategies: [{ name: 'gitlabUserList', parameters: {}, userListId: list.id }] })
  expect(used.strategies).toMatchObject([{ userList: { id: list.id, iid: 1, name: 'Testers' } }])
  expect(await world.perform(mira, removeUserList, on).catch(failure)).toEqual({
    code: 'conflict',
    reason: 'User list is associated with a strategy',
  })
  expect(await world.perform(mira, updateUserList, { ...on, userXids: 'c' })).toMatchObject({ userXids: 'c' })
  await change('beta', { strategies: [{ id: used.strategies[0]!.id, name: 'default', parameters: {} }] })
  await world.perform(mira, removeUserList, on)
  expect((await world.perform(mira, listUserLists, { project: project.id })).items).toEqual([])
})
