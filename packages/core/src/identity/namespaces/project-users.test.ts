import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { listProjectUsers } from './project-user-operations.ts'

let world: World

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => world.close())

test('lists the members of a project and of its groups, once each', async () => {
  const [mira, noor, ivo] = [await world.user('mira'), await world.user('noor'), await world.user('ivo')]
  const ops = await world.group('ops')
  const project = await world.project('tools', ops)
  await world.member(ops, mira, accessLevels.developer)
  await world.member(project, mira, accessLevels.maintainer)
  await world.member(project, noor, accessLevels.guest)
  const usernames = async (filter: object = {}) => {
    const page = await world.perform(mira, listProjectUsers, { project: project.id, ...filter })
    return page.items.map(({ username }) => username)
  }
  expect((await usernames()).toSorted()).toEqual(['mira', 'noor'])
  expect(await usernames({ search: 'NOO' })).toEqual(['noor'])
  expect(await usernames({ skipUsers: [noor.id] })).toEqual(['mira'])
  expect(await usernames({ skipUsers: [] })).toHaveLength(2)
  const refused = await world
    .perform(ivo, listProjectUsers, { project: project.id })
    .catch((error: DomainError) => error)
  expect(refused).toMatchObject({ failure: { code: 'not_found' } })
})
