import { World } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccessLevel, accessLevels, memberLevels } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import { allows } from './can.ts'
import type { PermissionRow } from './permission-table.ts'
import { standingOf } from './subject.ts'
import { groupsAllowedBy, projectsAllowedBy } from './visible-store.ts'

const { minimal, guest, planner, reporter, developer, maintainer, owner } = accessLevels
/** Planners, and Developers and higher, but not Reporters: the rule for editing wiki pages. */
const editors: PermissionRow = { roles: [planner, developer, maintainer, owner] }

let world: World
let group: Group
let below: Group
let project: Project

beforeAll(async () => {
  world = await World.open()
  group = await world.group('ops')
  below = await world.group('infra', { parent: group })
  project = await world.project('tools', below)
})
afterAll(() => world.close())

/**
 * Returns whether the row gives the user the permission in the group, the subgroup and the project: once according to
 * `allows`, and once according to the conditions in queries.
 */
async function answersFor(user: User, row: PermissionRow) {
  const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
  const subjects = [group, below, project]
  const checked = await Promise.all(subjects.map(async (each) => allows(row, await standingOf(context, user, each))))
  const groups = context.db
    .selectFrom('groups')
    .select('id')
    .where(groupsAllowedBy(row, context, user))
  const projects = context.db
    .selectFrom('projects')
    .select('id')
    .where(projectsAllowedBy(row, context, user))
  const groupIds = (await groups.execute()).map(({ id }) => id)
  const projectIds = (await projects.execute()).map(({ id }) => id)
  const selected = [groupIds.includes(group.id), groupIds.includes(below.id), projectIds.includes(project.id)]
  return { checked, selected }
}
const both = (...answers: boolean[]) => ({ checked: answers, selected: answers })

test.each<[AccessLevel, boolean]>([
  [5, false],
  [10, false],
  [15, true],
  [20, false],
  [25, false],
  [30, true],
  [40, true],
  [50, true],
])('a set of roles has its members only: role %i', async (level, may) => {
  const user = await world.user(`level${level}`)
  await world.member(group, user, level)
  expect(await answersFor(user, editors)).toEqual(both(may, may, may))
  expect(memberLevels).toContain(level)
})

describe('of several roles the highest counts', () => {
  test.each<[AccessLevel, AccessLevel, boolean]>([
    [planner, reporter, false],
    [reporter, planner, false],
    [planner, developer, true],
    [reporter, developer, true],
    [guest, planner, true],
  ])('role %i in the group, %i in the project', async (inGroup, inProject, may) => {
    const user = await world.user(`both${inGroup}x${inProject}`)
    await world.member(group, user, inGroup)
    await world.member(project, user, inProject)
    const above = inGroup === planner || inGroup === developer
    expect(await answersFor(user, editors)).toEqual(both(above, above, may))
  })
})

test('minimal access counts in its own group only, and visitors and administrators as with one least role', async () => {
  const [mira, root] = [await world.user('mira'), await world.user('root', { isAdministrator: true })]
  await world.member(group, mira, minimal)
  expect(await answersFor(mira, { roles: [minimal] })).toEqual(both(true, false, false))
  expect(await answersFor(root, editors)).toEqual(both(true, true, true))
  const open = await world.project('open', group, 'public')
  const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
  const read = context.db.selectFrom('projects').select('id')
  const row: PermissionRow = { ...editors, visitors: 'anyone' }
  expect(await read.where(projectsAllowedBy(row, context, undefined)).execute()).toEqual([{ id: open.id }])
})
