import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { groupLabels, projectLabels } from './label-operations.ts'

let world: World
let planner: User
let ops: Group
let tools: Project
beforeEach(async () => {
  world = await World.open()
  planner = await world.user('mira')
  ops = await world.group('ops')
  tools = await world.project('tools', ops)
  await world.member(ops, planner, accessLevels.planner)
})
afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const inTools = (name: string, more = {}) =>
  world.perform(planner, projectLabels.create, { parent: tools.id, name, color: '#d9534f', ...more })
const names = async (operation = projectLabels.list, input: object = { parent: tools.id }) =>
  (await world.perform(planner, operation, input)).items.map(({ name }) => name)

test('a project lists its own labels and those of its groups, by name', async () => {
  await world.perform(planner, groupLabels.create, { parent: 'ops', name: 'outage', color: '#f00' })
  await inTools('wish', { description: 'Nice to have' })
  await inTools('bug')
  expect(await names()).toEqual(['bug', 'outage', 'wish'])
  expect(await names(projectLabels.list, { parent: 'ops/tools', includeAncestorGroups: false })).toEqual([
    'bug',
    'wish',
  ])
  expect(await names(groupLabels.list, { parent: 'ops' })).toEqual(['outage'])
  expect(await names(projectLabels.list, { parent: tools.id, search: 'NICE' })).toEqual(['wish'])
})

test('a label is found by id or name, changed and deleted', async () => {
  const { id } = await inTools('bug', { priority: 10 })
  const renamed = await world.perform(planner, projectLabels.update, {
    parent: tools.id,
    name: 'bug',
    newName: 'defect',
    priority: null,
  })
  expect(renamed).toEqual({
    id,
    groupId: undefined,
    projectId: tools.id,
    name: 'defect',
    color: '#d9534f',
    description: undefined,
    priority: undefined,
    createdAtMs: WORLD_BEGINS_MS,
    isSubscribed: false,
  })
  expect(await world.perform(planner, projectLabels.get, { parent: tools.id, labelId: 'defect' })).toEqual(renamed)
  expect(await world.perform(planner, projectLabels.get, { parent: tools.id, labelId: id })).toEqual(renamed)
  await world.perform(planner, projectLabels.remove, { parent: tools.id, labelId: id })
  expect(await names()).toEqual([])
})

test('a project cannot use the name of a label in the groups above', async () => {
  await world.perform(planner, groupLabels.create, { parent: ops.id, name: 'bug', color: '#f00' })
  expect(await inTools('bug').catch(failure)).toEqual({ code: 'conflict', reason: 'Label already exists' })
})

test.each([
  [{ color: 'pinkish' }, { code: 'invalid', fields: { color: ['must be a valid color code'] } }],
  [{ name: 'a,b' }, { code: 'invalid', fields: { name: ['is invalid'] } }],
  [{ name: ' ' }, { code: 'parameters', problems: [{ path: ['name'], problem: 'empty' }] }],
])('%o is rejected', async (wrong, expected) => {
  expect(await inTools('bug', wrong).catch(failure)).toEqual(expected)
})

test('guests cannot create labels, and a group label cannot be changed through its project', async () => {
  const guest = await world.user('noor')
  await world.member(tools, guest, accessLevels.guest)
  const input = { parent: tools.id, name: 'bug', color: '#f00' }
  expect(await world.perform(guest, projectLabels.create, input).catch(failure)).toEqual({ code: 'forbidden' })
  await world.perform(planner, groupLabels.create, { ...input, parent: ops.id })
  const change = { parent: tools.id, labelId: 'bug', color: '#0f0' }
  const refused = await world.perform(planner, projectLabels.update, change).catch(failure)
  expect(refused).toEqual({ code: 'not_found', what: 'Label' })
})
