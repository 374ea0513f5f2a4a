import { World } from '@penstock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Group } from '../groups/group.ts'
import { DomainError } from '../kit/domain-error.ts'
import type { Project } from '../projects/project.ts'
import type { User } from '../users/user.ts'
import { accessLevels, memberLevels, visibilities } from './access-level.ts'
import { type Permission, permissionTable } from './permission-table.ts'
import { requirePermission, type Subject } from './subject.ts'

/**
 * What is answered to whom: `y` allowed, `n` forbidden, `-` there is no such thing. Three words, for one that is private,
 * internal and public. In each word stand anonymous, a stranger who has signed in, members with level 5, 10, 15, 20, 25,
 * 30, 40 and 50, and an administrator. Members of a project cannot have level 5: whoever has it is a stranger.
 *
 * From what the documents say, by hand, and not from the table of permissions. `platform`: they are silent, and what users of
 * the platform's API know counts (design.md, order of authority; its roles are those of interface-2 2.5).
 */
const expected: Record<Permission, { readonly spec: string; readonly group?: string; readonly project?: string }> = {
  read_group: {
    spec: 'rest-part2-details 1.5: what is not visible is 404; interface-1 1: anonymous callers get public data',
    group: '--yyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  admin_group: {
    spec: 'platform: settings of a group are its Owners’',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  remove_group: {
    spec: 'platform: Owners',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  create_subgroup: {
    spec: 'platform: Maintainers and up, unless a group says otherwise',
    group: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  create_project: {
    spec: 'platform: Developers and up, unless a group says otherwise',
    group: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  read_project: {
    spec: 'rest-part2-details 1.5: what is not visible is 404; interface-1 1: anonymous callers get public data',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  admin_project: {
    spec: 'platform: settings of a project are for Maintainers and up',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  change_project_visibility: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  remove_project: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  archive_project: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  transfer_project: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_members: {
    spec: 'platform: whoever sees the group or project, Minimal access apart',
    group: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  admin_project_members: {
    spec: 'rest-part2-details 7: who lets people into a project is a Maintainer or more',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  admin_group_members: {
    spec: 'rest-part2-details 7: who lets people into a group is an Owner, not a Maintainer',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  admin_access_tokens: {
    spec: 'platform: tokens of a project are for Maintainers and up',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  admin_group_access_tokens: {
    spec: 'platform: tokens of a group are its Owners’',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  admin_variables: {
    spec: 'design.md 6, platform: variables of a project are for Maintainers and up',
    project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
  },
  admin_group_variables: {
    spec: 'design.md 6, platform: variables of a group are its Owners’',
    group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_repository: {
    spec: 'platform: private code is for Reporters and up',
    project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  push_code: {
    spec: 'platform: Developers and up',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  read_label: {
    spec: 'platform: whoever sees the group or project',
    group: '--yyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  admin_label: {
    spec: 'platform: Planners, Reporters and up',
    group: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
  },
  read_issue: {
    spec: 'rest-part2-details 8.8: only those the caller may see; platform: all who see the project',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  read_confidential_issue: {
    spec: 'rest-part2-details 8.8: confidential rules; platform: Planners, Reporters and up',
    project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
  },
  create_issue: {
    spec: 'platform: Guests and up, on what is open whoever has signed in',
    project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  update_issue: {
    spec: 'platform: Planners, Reporters and up',
    project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
  },
  update_own_issue: {
    spec: 'platform: whoever may create one',
    project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  remove_issue: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_merge_request: {
    spec: 'rest-part2-details 9.1: anonymous where it is public; platform: else Reporters and up',
    project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  create_merge_request: {
    spec: 'platform: Developers and up',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  update_merge_request: {
    spec: 'rest-part2-details 9.2: Developer and up',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  update_own_merge_request: {
    spec: 'rest-part2-details 9.2: its author and assignees, as far as they may read it (9: else 403)',
    project: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  remove_merge_request: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_pipeline: {
    spec: 'platform: whoever sees the project, Guests of private ones too (project-based pipeline visibility is on)',
    project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
  },
  create_pipeline_record: {
    spec: 'design.md 6: Developer and above',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  remove_pipeline: {
    spec: 'platform: Owners',
    project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
  },
  read_milestone: {
    spec: 'rest-part2-details 8.2: signed in, also for public groups, and group visible',
    group: '--yyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
  },
  admin_milestone: {
    spec: 'rest-part2-details 8.2: create, update: Planner, or Reporter and up',
    group: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
  },
  remove_milestone: {
    spec: 'interface-2 5, rest-part2-details 8.2: delete: Developer and up',
    group: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
}

let world: World
/** In the order of the letters. */
let actors: (User | undefined)[]
/** In the order of the words. */
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
    return words === undefined ? [] : [{ permission, kind, words, spec: expected[permission].spec }]
  }),
)

test.each(rows)('$permission on a $kind ($spec)', async ({ permission, kind, words }) => {
  const answers = subjects[kind].map(async (subject) =>
    (await Promise.all(actors.map((actor) => answer(actor, subject, permission)))).join(''),
  )
  expect((await Promise.all(answers)).join(' ')).toBe(words)
})

test('no permission is left out, nor expected in vain', () => {
  expect([...new Set(rows.map(({ permission }) => permission))].sort()).toEqual(Object.keys(expected).sort())
  expect(Object.keys(expected).sort()).toEqual(Object.keys(permissionTable).sort())
})

test('the table names every level', () => {
  expect(memberLevels).toEqual([5, 10, 15, 20, 25, 30, 40, 50])
  expect(visibilities).toEqual(['private', 'internal', 'public'])
})

test('whoever has a role in something below a private group sees the group, and nothing more of it', async () => {
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

test('the user in whose namespace a project lies owns it', async () => {
  const lena = await world.user('lena')
  expect(await answer(lena, await world.project('notes', lena), 'remove_project')).toBe('y')
})

test('nobody changes what is in an archived project', async () => {
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
