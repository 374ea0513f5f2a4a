import {
  addOwnEmail,
  confirmationUrl,
  confirmEmail,
  type DomainError,
  findEmail,
  getNotificationSetting,
  type User,
  updateNotificationSetting,
  updateUser,
} from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { emailsArea } from './emails.ts'

let server: RestServer
let root: User
let mira: User
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [emailsArea] })
  root = await server.world.user('root', { isAdministrator: true })
  mira = await server.world.user('mira')
  token = await server.tokenOf(mira)
})
afterEach(() => server.close())

const call = async (method: string, path: string, json?: object, as = token) => {
  const { status, body } = await server.call(method, path, { token: as, json })
  return [status, body]
}
const failure = (error: DomainError) => error.failure

/** Returns the input of `confirmEmail` that the link in the mail represents. */
async function linkOf(emailId: number) {
  const { core, clock } = server.world
  const email = (await findEmail({ db: core.db.read, nowMs: clock.nowMs() }, emailId))!
  const url = new URL(confirmationUrl(core, 'https://svc.example.test', email))
  expect(url.pathname).toBe('/-/emails/confirm')
  return { emailId: Number(url.searchParams.get('id')), signature: url.searchParams.get('signature')! }
}
const confirm = (link: { emailId: number; signature: string }) => server.world.perform(undefined, confirmEmail, link)

test('an address is added, confirmed by its link, and removed', async () => {
  const [first] = (await call('GET', 'user/emails'))[1]
  expect(first).toEqual({ id: expect.any(Number), email: mira.email, confirmed_at: '2026-02-03T04:05:06.789Z' })
  const [status, added] = await call('POST', 'user/emails', { email: 'Mira@Home.Test' })
  expect([status, added]).toEqual([201, { id: added.id, email: 'mira@home.test', confirmed_at: null }])
  const link = await linkOf(added.id)
  server.world.clock.advance(1_000)
  await confirm(link)
  const confirmed = { ...added, confirmed_at: '2026-02-03T04:05:07.789Z' }
  expect(await call('GET', `user/emails/${added.id}`)).toEqual([200, confirmed])
  // A second click changes nothing.
  server.world.clock.advance(1_000)
  await confirm(link)
  expect(await call('GET', 'user/emails')).toEqual([200, [first, confirmed]])
  expect(await call('DELETE', `user/emails/${added.id}`)).toEqual([204, undefined])
  expect(await call('GET', `user/emails/${added.id}`)).toEqual([404, { message: '404 Email Not Found' }])
  expect(await confirm(link).catch(failure)).toMatchObject({ code: 'refused' })
})

test('a link works for its address only, and for three days', async () => {
  const [one, other] = [
    (await call('POST', 'user/emails', { email: 'one@home.test' }))[1],
    (await call('POST', 'user/emails', { email: 'other@home.test' }))[1],
  ]
  const { signature } = await linkOf(one.id)
  const refused = { code: 'refused', message: 'The link is invalid or has expired' }
  expect(await confirm({ emailId: other.id, signature }).catch(failure)).toEqual(refused)
  expect(await confirm({ emailId: one.id, signature: `${signature}A` }).catch(failure)).toEqual(refused)
  expect(await confirm({ emailId: 0, signature }).catch(failure)).toEqual(refused)
  server.world.clock.advance(3 * 86_400_000)
  expect(await confirm({ emailId: one.id, signature }).catch(failure)).toEqual(refused)
})

test('several users may claim an address, and the first one who confirms it has it', async () => {
  const noor = await server.world.user('noor')
  const asNoor = await server.tokenOf(noor)
  const [claim] = [(await call('POST', 'user/emails', { email: 'team@home.test' }))[1]]
  const [status, won] = await call('POST', 'user/emails', { email: 'team@home.test' }, asNoor)
  expect(status).toBe(201)
  const late = await linkOf(claim.id)
  await confirm(await linkOf(won.id))
  expect((await call('GET', 'user/emails'))[1]).toHaveLength(1)
  expect(await confirm(late).catch(failure)).toMatchObject({ code: 'refused' })
  const taken = [400, { message: { email: ['has already been taken'] } }]
  expect(await call('POST', 'user/emails', { email: 'team@home.test' })).toEqual(taken)
})

describe('rejects', () => {
  test.each([
    [{}, { error: 'email is missing' }],
    [{ email: 'no address' }, { message: { email: ['is invalid'] } }],
    [{ email: 'a@b.test\r\nBcc: all@example.test' }, { message: { email: ['is invalid'] } }],
    [{ email: 'MIRA@example.test' }, { message: { email: ['has already been taken'] } }],
  ])('%j', async (draft, body) => {
    expect(mira.email).toBe('mira@example.test')
    expect(await call('POST', 'user/emails', draft)).toEqual([400, body])
  })

  test('the removal of the primary address, and addresses of others', async () => {
    const [{ id }] = (await call('GET', 'user/emails'))[1]
    expect(await call('DELETE', `user/emails/${id}`)).toEqual([
      400,
      { message: 'The primary address cannot be removed' },
    ])
    const asNoor = await server.tokenOf(await server.world.user('noor'))
    expect((await call('GET', `user/emails/${id}`, undefined, asNoor))[0]).toBe(404)
    expect((await call('DELETE', `user/emails/${id}`, undefined, asNoor))[0]).toBe(404)
    expect((await call('GET', `users/${mira.id}/emails`, undefined, asNoor))[0]).toBe(403)
  })

  test('more than 20 addresses of a user', async () => {
    const asRoot = await server.tokenOf(root)
    const add = (number: number) =>
      call('POST', `users/${mira.id}/emails`, { email: `mira${number}@home.test`, skip_confirmation: true }, asRoot)
    for (let number = 1; number < 20; number += 1) expect((await add(number))[0]).toBe(201)
    expect(await add(20)).toEqual([400, { message: { base: ['a user has at most 20'] } }])
  })
})

test('administrators add confirmed addresses', async () => {
  const asRoot = await server.tokenOf(root)
  const path = `users/${mira.id}/emails`
  const draft = { email: 'mira@home.test', skip_confirmation: true }
  const [status, added] = await call('POST', path, draft, asRoot)
  expect([status, added.confirmed_at]).toEqual([201, '2026-02-03T04:05:06.789Z'])
  expect((await call('GET', path, undefined, asRoot))[1]).toHaveLength(2)
  expect(await call('DELETE', `${path}/${added.id}`, undefined, asRoot)).toEqual([204, undefined])
  expect((await call('GET', 'users/999/emails', undefined, asRoot))[1]).toEqual({ message: '404 User Not Found' })
})

test('a confirmed address can get the notifications, until it is removed', async () => {
  const { world } = server
  const choose = (notificationEmail: string) => world.perform(mira, updateNotificationSetting, { notificationEmail })
  const { id } = await world.perform(mira, addOwnEmail, { email: 'mira@home.test' })
  expect(await choose('mira@home.test').catch(failure)).toMatchObject({ code: 'invalid' })
  await confirm(await linkOf(id))
  expect((await choose('Mira@home.test')).notificationEmail).toBe('mira@home.test')
  await call('DELETE', `user/emails/${id}`)
  expect((await world.perform(mira, getNotificationSetting, {})).notificationEmail).toBe('mira@example.test')
})

test('a new primary address replaces the former one', async () => {
  const { world } = server
  await world.perform(root, updateUser, { user: mira.id, email: 'New@example.test' })
  expect((await call('GET', 'user/emails'))[1]).toMatchObject([{ email: 'new@example.test' }])
  const { id } = await world.perform(mira, addOwnEmail, { email: 'mira@home.test' })
  await world.perform(root, updateUser, { user: mira.id, email: 'mira@home.test' })
  expect((await call('GET', 'user/emails'))[1]).toEqual([
    { id, email: 'mira@home.test', confirmed_at: '2026-02-03T04:05:06.789Z' },
  ])
})
