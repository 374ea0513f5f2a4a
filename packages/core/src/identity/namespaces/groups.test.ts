import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { User } from '../../base/model/user.ts'
import { findGroup } from '../groups/group-store.ts'
import { isPathInUse } from '../paths/route-store.ts'
import { findFormerProject, findProject } from '../projects/project-store.ts'
import {
  createGroup,
  listDescendantGroups,
  listGroups,
  listSubgroups,
  removeGroup,
  showGroup,
  updateGroup,
} from './group-operations.ts'

let world: World
let mira: User
let ivo: User

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  ivo = await world.user('ivo')
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })
const paths = ({ items }: { items: readonly { fullPath: string }[] }) => items.map(({ fullPath }) => fullPath)

describe('creating', () => {
  test('makes its creator the owner of the group and of everything below', async () => {
    const ops = await world.perform(mira, createGroup, { name: 'Operations', path: 'ops' })
    expect(ops).toMatchObject({ fullPath: 'ops', fullName: 'Operations', visibility: 'private', parentId: undefined })
    const infra = await world.perform(mira, createGroup, { name: 'Infra', path: 'infra', parentId: ops.id })
    expect(infra).toMatchObject({ fullPath: 'ops/infra', fullName: 'Operations / Infra', parentId: ops.id })
    const notTheirs = { name: 'x', path: 'x', parentId: ops.id }
    expect(await world.perform(ivo, createGroup, notTheirs).catch(failure)).toEqual({
      code: 'not_found',
      what: 'Group',
    })
  })

  test.each([
    [{ path: 'Ivo' }, { path: ['has already been taken'] }],
    [{ path: 'groups' }, { path: ['is a reserved name'] }],
    [
      { path: 'a b' },
      {
        path: [
          "may hold letters, digits, '_', '-' and '.' only, not begin with '-' or '.', and not end with '.', '.git' or '.atom'",
        ],
      },
    ],
  ])('rejects %j', async (change, fields) => {
    const refused = world.perform(mira, createGroup, { name: 'x', ...change }).catch(failure)
    expect(await refused).toEqual({ code: 'invalid', fields })
  })

  test('is not more visible than its parent, nor less than its contents', async () => {
    const { id } = await world.perform(mira, createGroup, { name: 'ops', path: 'ops', visibility: 'internal' })
    const inner = { name: 'x', path: 'x', parentId: id }
    const refused = await world.perform(mira, createGroup, { ...inner, visibility: 'public' }).catch(failure)
    const reason = 'public is not allowed since the parent group has a internal visibility.'
    expect(refused).toEqual({ code: 'invalid', fields: { visibilityLevel: [reason] } })
    await world.perform(mira, createGroup, { ...inner, visibility: 'internal' })
    const closed = await world.perform(mira, updateGroup, { group: id, visibility: 'private' }).catch(failure)
    const below = 'private is not allowed since this group contains sub-groups with higher visibility.'
    expect(closed).toEqual({ code: 'invalid', fields: { visibilityLevel: [below] } })
  })
})

test('accepts a description of up to 500 characters', async () => {
  const longest = 'x'.repeat(500)
  const ops = await world.perform(mira, createGroup, { name: 'ops', path: 'ops', description: longest })
  expect(ops.description).toBe(longest)
  const tooLong = { problems: [{ path: ['description'] }] }
  const lengthy = { name: 'x', path: 'x', description: `${longest}x` }
  expect(await world.perform(mira, createGroup, lengthy).catch(failure)).toMatchObject(tooLong)
  const change = { group: ops.id, description: `${longest}x` }
  expect(await world.perform(mira, updateGroup, change).catch(failure)).toMatchObject(tooLong)
})

describe('renaming', () => {
  test('changes the paths of everything below, and keeps the old paths of projects as former ones', async () => {
    const ops = await world.perform(mira, createGroup, { name: 'Operations', path: 'o_s' })
    const infra = await world.group('infra', { parent: ops })
    const project = await world.project('Tool', infra)
    // An unescaped `_` matches any character in `like`.
    const other = await world.project('tool', await world.group('oxs'))
    await world.perform(mira, updateGroup, { group: 'o_s', path: 'Dev', name: 'Development' })
    expect(await findGroup(context(), 'dev/INFRA')).toMatchObject({
      id: infra.id,
      fullPath: 'Dev/infra',
      fullName: 'Development / infra',
    })
    expect(await findProject(context(), 'dev/infra/tool')).toMatchObject({
      id: project.id,
      fullPath: 'Dev/infra/Tool',
    })
    expect(await findGroup(context(), 'o_s')).toBeUndefined()
    expect((await findFormerProject(context(), 'O_S/infra/tool'))?.id).toBe(project.id)
    expect((await findProject(context(), 'oxs/tool'))?.id).toBe(other.id)
  })

  test('can be reverted, and can change only the letter case', async () => {
    const ops = await world.perform(mira, createGroup, { name: 'ops', path: 'ops' })
    const { id } = await world.project('tool', ops)
    for (const path of ['dev', 'ops', 'OPS']) await world.perform(mira, updateGroup, { group: ops.id, path })
    expect(await findProject(context(), 'ops/tool')).toMatchObject({ id, fullPath: 'OPS/tool' })
    expect((await findFormerProject(context(), 'dev/tool'))?.id).toBe(id)
    expect(await findFormerProject(context(), 'ops/tool')).toBeUndefined()
  })
})

test('removing deletes everything below, and frees the paths', async () => {
  const ops = await world.perform(mira, createGroup, { name: 'ops', path: 'ops' })
  const infra = await world.group('infra', { parent: ops })
  await world.project('tool', infra)
  await world.member(infra, ivo, accessLevels.maintainer)
  expect(await world.perform(ivo, removeGroup, { group: infra.id }).catch(failure)).toEqual({ code: 'forbidden' })
  await world.perform(mira, removeGroup, { group: ops.id })
  expect(await findGroup(context(), infra.id)).toBeUndefined()
  const inUse = ['ops', 'ops/infra', 'ops/infra/tool', 'mira'].map((path) => isPathInUse(context().db, path))
  expect(await Promise.all(inUse)).toEqual([false, false, false, true])
  expect(await world.core.db.read.selectFrom('members').selectAll().execute()).toEqual([])
  await world.perform(ivo, createGroup, { name: 'ops', path: 'ops' })
})

describe('lists', () => {
  beforeEach(async () => {
    const secret = await world.group('secret')
    const inner = await world.group('inner', { parent: secret })
    await world.group('hidden', { parent: inner })
    await world.group('house', { visibility: 'internal' })
    const open = await world.group('open', { visibility: 'public' })
    await world.group('part', { parent: open, visibility: 'public' })
    await world.member(await world.project('tool', inner), ivo, accessLevels.guest)
    await world.member(inner, mira, accessLevels.owner)
  })

  test('contain the groups that the actor may see, ordered by name', async () => {
    const seen = async (actor: User | undefined, input = {}) => paths(await world.perform(actor, listGroups, input))
    expect(await seen(undefined)).toEqual(['open', 'open/part'])
    expect(await seen(ivo)).toEqual(['house', 'secret/inner', 'open', 'open/part', 'secret'])
    expect(await seen(mira)).toEqual(['secret/inner/hidden', 'house', 'secret/inner', 'open', 'open/part', 'secret'])
    expect(await seen(mira, { allAvailable: false })).toEqual(['secret/inner/hidden', 'secret/inner', 'secret'])
    expect(await seen(mira, { owned: true })).toEqual(['secret/inner/hidden', 'secret/inner'])
    expect(await seen(ivo, { minAccessLevel: 10 })).toEqual([])
    expect(await seen(ivo, { topLevelOnly: true, orderBy: 'id', sort: 'desc' })).toEqual(['open', 'house', 'secret'])
    expect(await seen(ivo, { search: 'IN' })).toEqual(['secret/inner'])
  })

  test('contain subgroups or all groups below', async () => {
    const input = { group: 'secret' }
    expect(paths(await world.perform(ivo, listSubgroups, input))).toEqual(['secret/inner'])
    expect(paths(await world.perform(ivo, listDescendantGroups, input))).toEqual(['secret/inner'])
    expect(paths(await world.perform(mira, listDescendantGroups, input))).toEqual([
      'secret/inner/hidden',
      'secret/inner',
    ])
    expect((await world.perform(ivo, showGroup, { group: 'SECRET' })).fullPath).toBe('secret')
    const hidden = await world.perform(ivo, showGroup, { group: 'secret/inner/hidden' }).catch(failure)
    expect(hidden).toEqual({ code: 'not_found', what: 'Group' })
  })

  test('keyset pages contain each group once, and support only the order by name', async () => {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await world.perform(ivo, listGroups, { pagination: 'keyset', perPage: 2, cursor })
      found.push(...paths(page))
      cursor = 'nextCursor' in page ? page.nextCursor : undefined
    } while (cursor !== undefined)
    expect(found).toEqual(['house', 'secret/inner', 'open', 'open/part', 'secret'])
    const other = { pagination: 'keyset', orderBy: 'id' }
    expect(await world.perform(ivo, listGroups, other).catch(failure)).toEqual({ code: 'no_keyset_in_order' })
  })
})
