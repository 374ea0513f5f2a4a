import {
  accessLevels,
  DomainError,
  type Group,
  memberLevels,
  type Permission,
  type Project,
  permissionTable,
  requirePermission,
  type Subject,
  type User,
  visibilities,
} from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccessRow, matrixAreas } from './matrix-area.ts'

/** The rows of all areas. They are written by hand from GitLab's documentation of roles, not derived from the table of permissions. */
const expected: Readonly<Partial<Record<Permission, AccessRow>>> = Object.assign(
  {},
  ...(await matrixAreas()).map(({ access }) => access),
)

let world: World
/** The callers, in the order of the letters. */
let actors: (User | undefined)[]
/** Groups and projects, in the order of the words. */
let subjects: { group: Group[]; project: Project[] }

beforeAll(async () => {
  world = await World.open()
  const keeper = await world.user('keeper')
  const members = await Promise.all(memberLevels.map((level) => world.user(`level${level}`)))
  const admin = await world.user('root', { isAdministrator: true })
  actors = [undefined, await world.user('stranger'), ...members, admin]
  subjects = {
    group: await Promise.all(visibilities.map((visibility) => world.group(`group-${visibility}`, { visibility }))),
    project: await Promise.all(visibilities.map((visibility) => world.project(`${visibility}`, keeper, visibility))),
  }
  for (const subject of [...subjects.group, ...subjects.project])
    for (const [index, level] of memberLevels.entries()) await world.member(subject, members[index]!, level)
})

afterAll(() => world.close())

const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })

async function answer(actor: User | undefined, subject: Subject, permission: Permission): Promise<string> {
  try {
    await requirePermission({ ...context(), actor }, subject, permission)
    return 'y'
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return error.failure.code === 'forbidden' ? 'n' : '-'
  }
}

const rows = (Object.keys(permissionTable) as Permission[]).flatMap((permission) =>
  (['group', 'project'] as const).flatMap((kind) => {
    const words = expected[permission]?.[kind]
    return words === undefined ? [] : [{ permission, kind, words, rule: expected[permission]!.rule }]
  }),
)

test.each(rows)('$permission on a $kind ($rule)', async ({ permission, kind, words }) => {
  const answers = subjects[kind].map(async (subject) =>
    (await Promise.all(actors.map((actor) => answer(actor, subject, permission)))).join(''),
  )
  expect((await Promise.all(answers)).join(' ')).toBe(words)
})

test('every permission has a row, and every row a permission', () => {
  expect([...new Set(rows.map(({ permission }) => permission))].sort()).toEqual(Object.keys(expected).sort())
  expect(Object.keys(expected).sort()).toEqual(Object.keys(permissionTable).sort())
})

test('the table names every level', () => {
  expect(memberLevels).toEqual([5, 10, 15, 20, 25, 30, 40, 50])
  expect(visibilities).toEqual(['private', 'internal', 'public'])
})

test('a role below a private group lets its user see the group, but nothing in it', async () => {
  const top = await world.group('deep')
  const project = await world.project('tool', await world.group('deeper', { parent: top }))
  const mira = await world.user('mira')
  await world.member(project, mira, accessLevels.guest)
  expect(await answer(mira, top, 'read_group')).toBe('y')
  expect(await answer(mira, top, 'read_members')).toBe('n')
  expect(await answer(mira, project, 'read_project')).toBe('y')
})

test('minimal access is not inherited', async () => {
  const top = await world.group('outer')
  const noor = await world.user('noor')
  await world.member(top, noor, accessLevels.minimal)
  const inner = await world.group('inner', { parent: top })
  expect(await answer(noor, top, 'read_group')).toBe('y')
  expect(await answer(noor, inner, 'read_group')).toBe('-')
  expect(await answer(noor, await world.project('tool', top), 'read_project')).toBe('-')
})

test('a role is in force until the beginning of the day on which it ends', async () => {
  const [ops, ivo] = [await world.group('ops'), await world.user('ivo')]
  await world.member(ops, ivo, accessLevels.owner, '2026-02-04')
  expect(await answer(ivo, ops, 'admin_group')).toBe('y')
  world.clock.advance(24 * 3_600_000)
  expect(await answer(ivo, ops, 'admin_group')).toBe('-')
})

test('a user owns the projects in their namespace', async () => {
  const lena = await world.user('lena')
  expect(await answer(lena, await world.project('notes', lena), 'remove_project')).toBe('y')
})

test('rejects changes to the contents of an archived project, also by administrators', async () => {
  const [owner, project] = [actors.at(-2), subjects.project[2]!]
  const archived: Project = { ...project, isArchived: true }
  const answers = (['push_code', 'create_issue', 'read_issue', 'admin_project'] as const).map(async (permission) => [
    await answer(owner, archived, permission),
    await answer(actors.at(-1), archived, permission),
  ])
  expect(await Promise.all(answers)).toEqual([
    ['n', 'n'],
    ['n', 'n'],
    ['y', 'y'],
    ['y', 'y'],
  ])
})
