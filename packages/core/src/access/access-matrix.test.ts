import { World } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
 */
const expected = {
  group: {
    read_group: '--yyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    remove_group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    create_subgroup: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    create_project: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    read_project: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_project: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    remove_project: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    archive_project: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    transfer_project: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_members: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_project_members: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    admin_group_members: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    admin_access_tokens: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    admin_group_access_tokens: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    admin_variables: '--nnnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    admin_group_variables: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_repository: '--nnnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    push_code: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    read_label: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_label: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    read_issue: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    read_confidential_issue: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    create_issue: '--nyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    update_issue: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    update_own_issue: '--nyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    remove_issue: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_merge_request: '--nnnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    create_merge_request: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    update_merge_request: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    update_own_merge_request: '--nnnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    remove_merge_request: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_milestone: '--nyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    admin_milestone: '--nnyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    remove_milestone: '--nnnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
  project: {
    read_group: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_group: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    remove_group: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    create_subgroup: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    create_project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    read_project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    remove_project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    archive_project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    transfer_project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_members: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_project_members: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    admin_group_members: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    admin_access_tokens: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    admin_group_access_tokens: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    admin_variables: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    admin_group_variables: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_repository: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    push_code: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    read_label: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    admin_label: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    read_issue: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    read_confidential_issue: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    create_issue: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    update_issue: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    update_own_issue: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    remove_issue: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_merge_request: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    create_merge_request: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    update_merge_request: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    update_own_merge_request: '---nnyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    remove_merge_request: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    read_milestone: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    admin_milestone: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    remove_milestone: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
  },
} satisfies Record<Subject['kind'], Record<Permission, string>>

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

const reading = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })

async function answer(actor: User | undefined, subject: Subject, permission: Permission): Promise<string> {
  try {
    await requirePermission({ ...reading(), actor }, subject, permission)
    return 'y'
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return error.failure.code === 'forbidden' ? 'n' : '-'
  }
}

const permissions = Object.keys(permissionTable) as Permission[]

describe.each(['group', 'project'] as const)('on a %s', (kind) => {
  test.each(permissions)('%s', async (permission) => {
    const words = subjects[kind].map(async (subject) =>
      (await Promise.all(actors.map((actor) => answer(actor, subject, permission)))).join(''),
    )
    expect((await Promise.all(words)).join(' ')).toBe(expected[kind][permission])
  })
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
