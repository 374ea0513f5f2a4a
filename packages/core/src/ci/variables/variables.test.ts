import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError, Failure } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { variablesFor } from './variable-lists.ts'
import { groupVariables, projectVariables } from './variable-operations.ts'

let world: World
let mira: User
let root: Group
let near: Group
let project: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  root = await world.group('root')
  near = await world.group('near', { parent: root })
  project = await world.project('tools', near)
  await world.member(root, mira, accessLevels.owner)
})

afterEach(() => world.close())

const create = (more: Record<string, unknown> = {}) =>
  world.perform(mira, projectVariables.create, { parent: project.id, key: 'TOKEN', value: 'hunter2-hunter2', ...more })
const update = (more: Record<string, unknown>) =>
  world.perform(mira, projectVariables.update, { parent: project.id, key: 'TOKEN', ...more })
const get = (more: Record<string, unknown> = {}) =>
  world.perform(mira, projectVariables.get, { parent: project.id, key: 'TOKEN', ...more })
const refusal = (answer: Promise<unknown>): Promise<Failure> =>
  answer.then(
    () => expect.fail('should be refused'),
    (error: DomainError) => error.failure,
  )

describe('a variable', () => {
  test('has the given attributes or the defaults', async () => {
    const usual = {
      type: 'env_var',
      isProtected: false,
      isMasked: false,
      isHidden: false,
      isRaw: false,
      environmentScope: '*',
    }
    expect(await create()).toMatchObject({ key: 'TOKEN', value: 'hunter2-hunter2', ...usual, description: undefined })
    const all = {
      variableType: 'file',
      protected: true,
      masked: true,
      raw: true,
      environmentScope: 'review/*',
      description: 'Why',
    }
    const shown = {
      type: 'file',
      isProtected: true,
      isMasked: true,
      isRaw: true,
      environmentScope: 'review/*',
      description: 'Why',
    }
    expect(await create({ key: 'OTHER', ...all })).toMatchObject(shown)
    const { items, total } = await world.perform(mira, projectVariables.list, { parent: project.id })
    expect([items.map(({ key }) => key), total]).toEqual([['TOKEN', 'OTHER'], 2])
    expect(await update({ value: 'next', protected: true })).toMatchObject({
      value: 'next',
      isProtected: true,
      isMasked: false,
    })
    await world.perform(mira, projectVariables.remove, { parent: project.id, key: 'TOKEN' })
    expect(await refusal(get())).toEqual({ code: 'not_found', what: 'Variable' })
  })

  test('can share its key with variables of other scopes', async () => {
    await create()
    expect(await refusal(create())).toEqual({ code: 'invalid', fields: { key: ['(TOKEN) has already been taken'] } })
    await create({ environmentScope: 'production', value: 'p' })
    expect(await refusal(get())).toEqual({
      code: 'ambiguous',
      what: 'variables',
      distinguishedBy: ['filter', 'environmentScope'],
    })
    expect(await get({ filter: { environmentScope: 'production' } })).toMatchObject({ value: 'p' })
    const taken = update({ filter: { environmentScope: 'production' }, environmentScope: '*' })
    expect((await refusal(taken)).code).toBe('invalid')
    await update({ filter: { environmentScope: 'production' }, environmentScope: 'staging' })
    expect(await get({ filter: { environmentScope: 'staging' } })).toMatchObject({ value: 'p' })
  })

  test.each([
    {
      name: 'a key with other characters',
      input: { key: 'A-B' },
      fields: { key: ['can contain only letters, digits and _'] },
    },
    { name: 'an empty key', input: { key: '' }, fields: { key: ["can't be blank"] } },
    {
      name: 'a long key',
      input: { key: 'x'.repeat(256) },
      fields: { key: ['is too long (maximum is 255 characters)'] },
    },
    {
      name: 'a long value',
      input: { value: 'x'.repeat(10_001) },
      fields: { value: ['is too long (maximum is 10000 characters)'] },
    },
    { name: 'masked, and short', input: { masked: true, value: 'short' }, fields: { value: ['is invalid'] } },
    { name: 'masked, and two words', input: { masked: true, value: 'two words' }, fields: { value: ['is invalid'] } },
    {
      name: 'masked, and a reference',
      input: { masked: true, value: 'references-$OTHER' },
      fields: { value: ['is invalid'] },
    },
    {
      name: 'masked, and two lines',
      input: { masked: true, value: 'line\nline-line' },
      fields: { value: ['is invalid'] },
    },
    {
      name: 'masked, raw, and two lines',
      input: { masked: true, raw: true, value: 'line\nline-line' },
      fields: { value: ['is invalid'] },
    },
    {
      name: 'a scope with other characters',
      input: { environmentScope: 'a;b' },
      fields: { environmentScope: ['is invalid'] },
    },
    {
      name: 'a long description',
      input: { description: 'x'.repeat(256) },
      fields: { description: ['is too long (maximum is 255 characters)'] },
    },
  ])('is rejected: $name', async ({ input, fields }) => {
    expect(await refusal(create(input))).toEqual({ code: 'invalid', fields })
  })

  test('that is masked and raw can contain anything but blanks', async () => {
    expect(await create({ masked: true, raw: true, value: 'pa$$word{}!' })).toMatchObject({ isMasked: true })
  })

  test('that is hidden is not shown again, and stays hidden', async () => {
    expect(await create({ maskedAndHidden: true })).toMatchObject({ isHidden: true, isMasked: true, value: undefined })
    expect(await get()).toMatchObject({ isHidden: true, value: undefined })
    expect((await refusal(update({ masked: false }))).code).toBe('invalid')
    expect(await update({ value: 'another-value' })).toMatchObject({ value: undefined })
    const found = await variablesFor(context(), world.core, project, { environments: [], isProtectedRef: false })
    expect(found).toMatchObject([{ key: 'TOKEN', value: 'another-value' }])
  })

  test('is stored encrypted only, and cannot be decrypted in another row', async () => {
    await create()
    await create({ key: 'OTHER', value: 'of no use' })
    const { db } = world.core
    const rows = await db.read.selectFrom('ci_variables').selectAll().orderBy('id').execute()
    const events = await db.read.selectFrom('events').selectAll().execute()
    expect(events.map(({ type }) => type)).toContain('variable.created')
    expect(JSON.stringify([rows, events])).not.toMatch(/hunter2|aHVudGVyMi/)
    await db.write((tx) =>
      tx.updateTable('ci_variables').set({ sealed_value: rows[0]!.sealed_value }).where('key', '=', 'OTHER').execute(),
    )
    await expect(get({ key: 'OTHER' })).rejects.toThrow('cannot be decrypted')
  })
})

test('Maintainers administer variables of a project, Owners those of a group; no one else sees them', async () => {
  const noor = await world.user('noor')
  await world.member(near, noor, accessLevels.developer)
  expect(await refusal(world.perform(noor, projectVariables.list, { parent: project.id }))).toEqual({
    code: 'forbidden',
  })
  await world.member(project, noor, accessLevels.maintainer)
  await world.perform(noor, projectVariables.list, { parent: project.id })
  expect(await refusal(world.perform(noor, groupVariables.list, { parent: near.id }))).toEqual({ code: 'forbidden' })
  const stranger = await world.user('stranger')
  expect(await refusal(world.perform(stranger, projectVariables.list, { parent: project.id }))).toEqual({
    code: 'not_found',
    what: 'Project',
  })
  expect(await refusal(world.perform(undefined, projectVariables.list, { parent: project.id }))).toEqual({
    code: 'unauthenticated',
  })
})

test('a pipeline gets the variables of its project, then of the nearest group, then of the groups above', async () => {
  const inGroup = (group: Group, key: string, value: string, more = {}) =>
    world.perform(mira, groupVariables.create, { parent: group.id, key, value, ...more })
  const other = await world.group('other')
  await world.member(other, mira, accessLevels.owner)
  await inGroup(root, 'A', 'root')
  await inGroup(root, 'B', 'root')
  await inGroup(root, 'C', 'root')
  await inGroup(near, 'B', 'near')
  await inGroup(near, 'C', 'near')
  await inGroup(other, 'D', 'other')
  await create({ key: 'C', value: 'project' })
  await create({ key: 'E', value: 'production', environmentScope: 'production' })
  await create({ key: 'F', value: 'protected', protected: true })
  const found = async (environments: string[], isProtectedRef: boolean) => {
    const all = await variablesFor(context(), world.core, project, { environments, isProtectedRef })
    return all.map(({ key, value }) => `${key} ${value}`)
  }
  expect(await found([], false)).toEqual(['A root', 'B near', 'C project'])
  expect(await found(['production'], true)).toEqual(['A root', 'B near', 'C project', 'E production', 'F protected'])
})

const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })
