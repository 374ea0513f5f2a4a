import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { User } from '../../base/model/user.ts'
import { isMessageActive, matchesTargetPath } from './broadcast-message.ts'
import {
  createBroadcastMessage,
  getBroadcastMessage,
  listBroadcastMessages,
  listDismissableBroadcastMessages,
  listShownBroadcastMessages,
  removeBroadcastMessage,
  updateBroadcastMessage,
} from './broadcast-message-operations.ts'

const HOUR_MS = 3_600_000

let world: World
let root: User

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
})

afterEach(() => world.close())

const create = (input: object, actor: User | undefined = root) =>
  world.perform(actor, createBroadcastMessage, { message: 'Maintenance', ...input })
const update = (broadcastMessageId: number, input: object) =>
  world.perform(root, updateBroadcastMessage, { broadcastMessageId, ...input })
const failure = (error: DomainError) => error.failure
const at = (time: string) => Date.parse(time)

test('a new message begins now, ends after an hour, and is an indigo banner for everyone', async () => {
  const nowMs = world.clock.nowMs()
  expect(await create({})).toEqual({
    id: 1,
    message: 'Maintenance',
    startsAtMs: nowMs,
    endsAtMs: nowMs + HOUR_MS,
    color: '#E75E40',
    font: '#FFFFFF',
    targetAccessLevels: [],
    targetPath: undefined,
    broadcastType: 'banner',
    theme: 'indigo',
    dismissable: false,
    updatedAtMs: nowMs,
  })
})

test('the default end is an hour after the given start', async () => {
  const { endsAtMs } = await create({ startsAt: '2026-03-01T10:00:00Z', endsAt: null })
  expect(endsAtMs).toBe(at('2026-03-01T11:00:00Z'))
  const last = await create({ startsAt: '9999-12-31T23:30:00Z' })
  expect(last.endsAtMs).toBe(at('9999-12-31T23:59:59.999Z'))
})

test('is active from its start to its end, both included; never, if it ends before it starts', async () => {
  const message = await create({ startsAt: '2026-03-01T10:00:00Z', endsAt: '2026-03-01T12:00:00Z' })
  const isActive = (time: string) => isMessageActive(message, at(time))
  const times = ['09:59:59.999', '10:00:00', '12:00:00', '12:00:00.001'].map((time) => `2026-03-01T${time}Z`)
  expect(times.map(isActive)).toEqual([false, true, true, false])
  const backwards = await create({ startsAt: '2026-03-01T12:00:00Z', endsAt: '2026-03-01T10:00:00Z' })
  expect([at('2026-03-01T11:00:00Z'), at('2026-03-01T12:00:00Z')].map((ms) => isMessageActive(backwards, ms))).toEqual([
    false,
    false,
  ])
})

test('everyone reads every message, the newest first, whomever it is for', async () => {
  await create({ targetAccessLevels: [50], targetPath: '/secret' })
  await create({ startsAt: '2020-01-01', endsAt: '2020-01-02' })
  const { items } = await world.perform(undefined, listBroadcastMessages, {})
  expect(items.map(({ id }) => id)).toEqual([2, 1])
  const read = (id: number) => world.perform(undefined, getBroadcastMessage, { broadcastMessageId: id })
  expect((await read(1)).targetAccessLevels).toEqual([50])
  expect(await read(3).catch(failure)).toEqual({ code: 'not_found' })
})

test('only administrators write', async () => {
  const mira = await world.user('mira')
  await create({})
  expect(await create({}, mira).catch(failure)).toEqual({ code: 'forbidden' })
  const anonymous = world.perform(undefined, removeBroadcastMessage, { broadcastMessageId: 1 })
  expect(await anonymous.catch(failure)).toEqual({ code: 'unauthenticated' })
})

test.each([
  [{ message: ' \n' }, { message: ["can't be blank"] }],
  [{ message: 'x'.repeat(10_001) }, { message: ['is too long (maximum is 10000 characters)'] }],
  [{ font: '#12' }, { font: ['must be a valid color code'] }],
  [{ color: 'red' }, { color: ['must be a valid color code'] }],
  [{ endsAt: '9999-12-31T23:00:00-05:00' }, { endsAt: ['is invalid'] }],
  [{ targetPath: 'x'.repeat(256) }, { targetPath: ['is too long (maximum is 255 characters)'] }],
])('refuses %j', async (input, fields) => {
  expect(await create(input).catch(failure)).toEqual({ code: 'invalid', fields })
})

test.each([
  [{ theme: 'purple' }, 'theme', 'unknown_value'],
  [{ broadcastType: 'popup' }, 'broadcastType', 'unknown_value'],
  [{ startsAt: 'soon' }, 'startsAt', 'invalid'],
])('refuses %j as a parameter', async (input, name, problem) => {
  expect(await create(input).catch(failure)).toEqual({ code: 'parameters', problems: [{ path: [name], problem }] })
})

describe('a change', () => {
  test('without values changes nothing, and is not recorded', async () => {
    const message = await create({ theme: 'red', targetAccessLevels: [30, 30, 40] })
    expect(message.targetAccessLevels).toEqual([30, 40])
    world.clock.advance(HOUR_MS)
    expect(await update(1, {})).toEqual(message)
    expect(await update(1, { theme: 'red' })).toEqual(message)
    const events = await world.core.db.read.selectFrom('events').select('type').execute()
    expect(events.filter(({ type }) => type.startsWith('broadcast_message'))).toEqual([
      { type: 'broadcast_message.created' },
    ])
  })

  test('replaces only what is given, and null restores a default', async () => {
    const before = await create({ theme: 'red', targetPath: '/users/*', targetAccessLevels: [25], dismissable: true })
    await world.clock.advance(1_000)
    const changed = { ...before, message: 'Done', updatedAtMs: before.updatedAtMs + 1_000 }
    expect(await update(1, { message: 'Done' })).toEqual(changed)
    const nulls = { theme: null, targetPath: null, targetAccessLevels: null, dismissable: null, font: '' }
    const bare = { theme: 'indigo', targetPath: undefined, targetAccessLevels: [], dismissable: false, font: '' }
    expect(await update(1, nulls)).toEqual({ ...changed, ...bare })
  })

  test.each(['message', 'startsAt', 'endsAt'])('cannot remove %s', async (name) => {
    await create({})
    expect(await update(1, { [name]: null }).catch(failure)).toEqual({
      code: 'invalid',
      fields: { [name]: ["can't be blank"] },
    })
  })
})

test('the removal of a message that changed since is refused', async () => {
  const { updatedAtMs } = await create({})
  await world.clock.advance(2_000)
  await update(1, { message: 'Later' })
  const removal = (ifUnmodifiedSinceMs: number) =>
    world.perform(root, removeBroadcastMessage, { broadcastMessageId: 1 }, { ifUnmodifiedSinceMs })
  expect(await removal(updatedAtMs).catch(failure)).toEqual({ code: 'changed_since' })
  await removal(updatedAtMs + 2_000)
  expect((await world.perform(undefined, listBroadcastMessages, {})).items).toEqual([])
})

describe('on pages', () => {
  const shownAt = async (path: string, dismissedIds: readonly number[] = []) => {
    const shown = await world.perform(undefined, listShownBroadcastMessages, { path, dismissedIds })
    return shown.map(({ message }) => message)
  }

  test('active messages for all roles are shown, on the pages that they are for', async () => {
    await create({ message: 'everywhere' })
    await create({ message: 'sign-in', targetPath: '/users/*' })
    await create({ message: 'developers', targetAccessLevels: [30] })
    await create({ message: 'later', startsAt: '2099-01-01' })
    await create({ message: 'over', startsAt: '2020-01-01', endsAt: '2020-01-02' })
    expect(await shownAt('/users/sign_in')).toEqual(['everywhere', 'sign-in'])
    expect(await shownAt('/')).toEqual(['everywhere'])
    await world.clock.advance(HOUR_MS + 1)
    expect(await shownAt('/users/sign_in')).toEqual([])
  })

  test('dismissed messages are not shown if they can be dismissed', async () => {
    await create({ message: 'stays' })
    await create({ message: 'goes', dismissable: true })
    expect(await shownAt('/', [1, 2])).toEqual(['stays'])
    const dismissable = await world.perform(undefined, listDismissableBroadcastMessages, {})
    expect(dismissable.map(({ id }) => id)).toEqual([2])
  })

  test('at most ten are shown, the newest ones', async () => {
    for (let number = 1; number <= 12; number += 1) await create({ message: `m${number}` })
    expect(await shownAt('/')).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((number) => `m${number}`))
  })
})

describe('a target path', () => {
  test.each([
    [undefined, '/any', true],
    [' ', '/any', true],
    ['/users/sign_in', '/users/sign_in', true],
    ['/USERS/sign_in', '/users/Sign_In', true],
    ['/users', '/users/sign_in', false],
    ['users/sign_in', '/users/sign_in', false],
    ['*/sign_in', '/users/sign_in', true],
    ['/users/*', '/users/', true],
    ['*', '/', true],
    ['**', '/', true],
    ['/a*b*c', '/a-b-c', true],
    ['/a*b*c', '/a-c-b', false],
    ['/ab*ba', '/aba', false],
    ['/a*b*b', '/ab', false],
    ['/a.c', '/abc', false],
    ['/a+*', '/a+x', true],
  ])('%j and %s: %s', (pattern, path, expected) => {
    expect(matchesTargetPath(pattern, path)).toBe(expected)
  })

  test('with many stars is matched in time', () => {
    const before = process.cpuUsage()
    expect(matchesTargetPath('*a'.repeat(127), `/${'a'.repeat(8_000)}b`)).toBe(false)
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000)
  })
})
