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

/**
 * The rows of the permissions that no file in `areas/` has. All rows are written by hand from GitLab's documentation
 * of roles, not derived from the table of permissions.
 */
const otherRows: Readonly<Partial<Record<Permission, AccessRow>>> = {
  read_group: {
    rule: 'a group that is not visible is not found; anonymous callers see public data',
    group: '--yyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  admin_group: {
    rule: 'Owners change the settings of a group',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  remove_group: {
    rule: 'Owners',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  create_subgroup: {
    rule: 'Maintainers and higher',
    group: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  create_project: {
    rule: 'Developers and higher',
    group: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  read_project: {
    rule: 'a project that is not visible is not found; anonymous callers see public data',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  read_statistics: {
    rule: 'Reporters and higher',
    project: '---nnyyyyyy -nnnnyyyyyy nnnnnyyyyyy',
  },
  admin_project: {
    rule: 'Maintainers and higher change the settings of a project',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  change_project_visibility: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  remove_project: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  archive_project: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  transfer_project: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_members: {
    rule: 'everyone who sees the group or project, except with minimal access',
    group: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  admin_project_members: {
    rule: 'Maintainers and higher manage the members of a project',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  admin_group_members: {
    rule: 'Owners manage the members of a group',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  admin_access_tokens: {
    rule: 'Maintainers and higher manage the tokens of a project',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  admin_group_access_tokens: {
    rule: 'Owners manage the tokens of a group',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_repository: {
    rule: 'Reporters and higher read private code',
    project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  push_code: {
    rule: 'Developers and higher',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  read_issue: {
    rule: 'everyone who sees the project',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  read_confidential_issue: {
    rule: 'Planners, Reporters and higher',
    project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
  },
  create_issue: {
    rule: 'Guests and higher; in visible projects everyone who has signed in',
    project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  update_issue: {
    rule: 'Planners, Reporters and higher',
    project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
  },
  update_own_issue: {
    rule: 'everyone who may create an issue',
    project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  remove_issue: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_merge_request: {
    rule: 'anonymous callers in public projects; Reporters and higher in private ones',
    project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  create_merge_request: {
    rule: 'Developers and higher',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  update_merge_request: {
    rule: 'Developers and higher',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  update_own_merge_request: {
    rule: 'authors and assignees who may read the merge request',
    project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  remove_merge_request: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_pipeline: {
    rule: 'everyone who sees the project, also Guests of private ones, as public pipelines are enabled',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  create_pipeline_record: {
    rule: 'Developers and higher',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  remove_pipeline: {
    rule: 'Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
}

const expected: Readonly<Partial<Record<Permission, AccessRow>>> = Object.assign(
  {},
  otherRows,
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
