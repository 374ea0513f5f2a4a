import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settingOf } from './setting-of.ts'

let world: World

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => world.close())

test('returns the defaults of an instance that has changed nothing', async () => {
  expect(await settingOf(world.core, 'issues_create_limit')).toBe(300)
  expect(await settingOf(world.core, 'personal_access_token_prefix')).toBe('svcpat-')
  expect(await settingOf(world.core, 'max_login_attempts')).toBe(undefined)
})

test('reads the settings once for many uses', async () => {
  const use = () => Promise.all(Array.from({ length: 5 }, () => settingOf(world.core, 'issues_create_limit')))
  world.clock.advance(60_000)
  expect(await world.statements(use)).toBe(1)
  world.clock.advance(59_999)
  world.clock.stepSystemTime(3_600_000)
  expect(await world.statements(use)).toBe(0)
  world.clock.advance(1)
  world.clock.stepSystemTime(-7_200_000)
  expect(await world.statements(use)).toBe(1)
})
