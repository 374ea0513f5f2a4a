import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  addEmailOfUser,
  addOwnEmail,
  blockUser,
  type Core,
  confirmEmail,
  listOwnEmails,
  migrateCore,
  perform,
  removeOwnEmail,
  type User,
} from '@penstock/core'
import { DeliveryQueue, deliveryMigrations } from '@penstock/delivery'
import { silentLog } from '@penstock/runtime'
import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { simpleParser } from 'mailparser'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fileTransport } from './file-transport.ts'
import { MAIL_QUEUE, MailQueue } from './mail-queue.ts'
import { type Refusal, SmtpReceiver } from './smtp-receiver.harness.ts'
import { parseSmtpUrl, smtpTransport } from './smtp-transport.ts'
import type { MailTransport } from './transport.ts'

const sender = { name: 'Penstock', address: 'penstock@svc.example.test' }

let world: World
let mira: User
let ends: (() => Promise<unknown>)[]

beforeEach(async () => {
  world = await World.open()
  await migrateCore(world.core.db, deliveryMigrations)
  mira = await world.user('mira')
  ends = []
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  await world.close()
})

/** Starts the mails of a core; returns the core with its listener. */
function startMails(transport: MailTransport): Core {
  const options = {
    core: world.core,
    transport,
    random: () => 0.5,
    newClaim: randomUUID,
    log: silentLog,
    answersRequests: () => true,
  }
  const mails = new MailQueue(options)
  mails.start()
  ends.push(() => mails.end())
  return { ...world.core, listeners: [mails.listener] }
}

async function startReceiver(refuses?: Refusal, port?: number): Promise<SmtpReceiver> {
  const receiver = await SmtpReceiver.start({ ...(refuses && { refuses }), ...(port && { port }) })
  ends.push(() => receiver.close())
  return receiver
}

const toServer = (url: string) => smtpTransport(parseSmtpUrl(url)!, { sender, clock: world.clock })
const counts = () => new DeliveryQueue(world.core.db as never, MAIL_QUEUE).counts()
const add = (core: Core, email: string) => perform(core, mira, addOwnEmail, { email })

/** Moves time until the condition holds, so that waits for a retry end. */
async function untilTrue(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(
    async () => {
      await world.clock.advance(1_000)
      expect(await condition()).toBe(true)
    },
    { timeout: 20_000, interval: 20 },
  )
}

test('a new address gets a mail, and its link confirms it', async () => {
  const receiver = await startReceiver()
  const core = startMails(toServer(receiver.url))
  const { id } = await add(core, 'mira@home.test')
  await untilTrue(() => receiver.mails.length === 1)
  const [{ to, parsed }] = receiver.mails as [(typeof receiver.mails)[number]]
  expect([to, parsed.subject]).toEqual(['mira@home.test', 'Confirm your e-mail address'])
  expect(parsed.from?.value).toEqual([{ name: 'Penstock', address: 'penstock@svc.example.test' }])
  expect(parsed.replyTo).toBeUndefined()
  expect(parsed.headers.get('auto-submitted')).toBe('auto-generated')
  expect(parsed.messageId).toMatch(/^<[\w-]{32}@svc\.example\.test>$/)
  const link = /https:\/\/svc\.example\.test\/-\/emails\/confirm\S+/.exec(parsed.text!)![0]
  expect(parsed.html).toContain(`href="${link.replaceAll('&', '&amp;')}"`)
  const { searchParams } = new URL(link)
  expect(Number(searchParams.get('id'))).toBe(id)
  await perform(core, undefined, confirmEmail, { emailId: id, signature: searchParams.get('signature')! })
  const [, other] = await world.perform(mira, listOwnEmails, {})
  expect(other!.confirmedAtMs).toBeDefined()
})

test('mails wait while the server is away, and are sent when it is back', async () => {
  const first = await SmtpReceiver.start()
  const { port, url } = first
  await first.close()
  const core = startMails(toServer(url))
  await add(core, 'one@home.test')
  await add(core, 'two@home.test')
  await untilTrue(async () => (await attemptsOf()).every((attempts) => attempts > 0))
  expect(await counts()).toEqual({ open: 2, dead: 0 })
  const receiver = await startReceiver(undefined, port)
  await untilTrue(() => receiver.mails.length === 2)
  expect(receiver.mails.map(({ to }) => to).sort()).toEqual(['one@home.test', 'two@home.test'])
  await untilTrue(async () => (await counts()).open === 0)
})

const attemptsOf = async () => {
  const rows = await (world.core.db.read as never as import('kysely').Kysely<{ deliveries: { attempts: number } }>)
    .selectFrom('deliveries')
    .select('attempts')
    .execute()
  return rows.map(({ attempts }) => attempts)
}

test('a recipient that the server refuses for good gets no further attempt, a temporary refusal does', async () => {
  let isBusy = true
  const receiver = await startReceiver((to) => {
    if (to === 'gone@home.test') return { code: 550, message: 'no such mailbox' }
    return isBusy && to === 'busy@home.test' ? { code: 451, message: 'try again later' } : undefined
  })
  const core = startMails(toServer(receiver.url))
  await add(core, 'gone@home.test')
  await add(core, 'busy@home.test')
  await add(core, 'fine@home.test')
  await untilTrue(async () => (await counts()).dead === 1 && receiver.mails.length === 1)
  expect(receiver.mails[0]!.to).toBe('fine@home.test')
  isBusy = false
  await untilTrue(() => receiver.mails.length === 2)
  expect(receiver.mails[1]!.to).toBe('busy@home.test')
})

test('nothing is sent to an address that was removed or confirmed in between', async () => {
  const receiver = await startReceiver()
  const queued = new MailQueue({
    core: world.core,
    transport: toServer(receiver.url),
    random: () => 0.5,
    newClaim: randomUUID,
    log: silentLog,
    answersRequests: () => true,
  })
  const core: Core = { ...world.core, listeners: [queued.listener] }
  await perform(core, mira, removeOwnEmail, { emailId: (await add(core, 'gone@home.test')).id })
  await add(core, 'mira@home.test')
  expect(await counts()).toEqual({ open: 2, dead: 0 })
  queued.start()
  ends.push(() => queued.end())
  await untilTrue(async () => (await counts()).open === 0)
  expect(receiver.mails.map(({ to }) => to)).toEqual(['mira@home.test'])
})

test('a silent service sends nothing', async () => {
  const receiver = await startReceiver()
  await world.close()
  world = await World.open({ pinnedSettings: { silent_mode_enabled: true } })
  await migrateCore(world.core.db, deliveryMigrations)
  mira = await world.user('mira')
  const core = startMails(toServer(receiver.url))
  await add(core, 'mira@home.test')
  await untilTrue(async () => (await counts()).open === 0)
  expect(receiver.mails).toEqual([])
})

test('without a server, mails are files that only their owner reads, and the newest 1,000 are kept', async () => {
  const directory = join(world.directory, 'mail')
  mkdirSync(directory)
  for (let number = 0; number < 1_000; number += 1) {
    writeFileSync(join(directory, `20250101T000000.${String(number).padStart(3, '0')}Z-old.eml`), '')
  }
  const core = startMails(fileTransport(directory, { sender }))
  await add(core, 'mira@home.test')
  await untilTrue(async () => (await counts()).open === 0)
  const names = readdirSync(directory).sort()
  expect([names.length, names[0]]).toEqual([1_000, '20250101T000000.001Z-old.eml'])
  const file = join(directory, names.at(-1)!)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const parsed = await simpleParser(readFileSync(file))
  expect([parsed.subject, parsed.text]).toEqual([
    'Confirm your e-mail address',
    expect.stringContaining('/-/emails/confirm?id='),
  ])
})

test('files are written beside links that others have put there, and unfinished files count too', async () => {
  const directory = join(world.directory, 'mail')
  const secret = join(world.directory, 'secret.txt')
  mkdirSync(directory)
  writeFileSync(secret, 'unchanged')
  for (let number = 0; number < 1_000; number += 1) {
    writeFileSync(join(directory, `20250101T000000.${String(number).padStart(3, '0')}Z-old.eml.tmp`), '')
  }
  const transport = fileTransport(directory, { sender })
  const message = { to: 'mira@home.test', subject: 'Hello', text: 'Hello', html: '', key: 'one', atMs: WORLD_BEGINS_MS }
  await transport.send(message)
  const name = readdirSync(directory).sort().at(-1)!
  rmSync(join(directory, name))
  for (const link of [name, `${name}.tmp`]) symlinkSync(secret, join(directory, link))
  expect((await transport.send(message)).kind).toBe('delivered')
  expect(readFileSync(secret, 'utf8')).toBe('unchanged')
  expect(lstatSync(join(directory, name)).isFile()).toBe(true)
  expect(readdirSync(directory)).toHaveLength(1_000)
})

const linkIn = (text: string) => new URL(/https:\/\/\S+\/-\/emails\/confirm\S+/.exec(text)![0]).searchParams

test('a blocked user gets no confirmation mail, and an earlier link stops', async () => {
  const receiver = await startReceiver()
  const core = startMails(toServer(receiver.url))
  const { id } = await add(core, 'mira@home.test')
  await untilTrue(() => receiver.mails.length === 1)
  const link = linkIn(receiver.mails[0]!.parsed.text!)
  const root = await world.user('root', { isAdministrator: true })
  await perform(core, root, blockUser, { user: mira.id })
  const confirmed = perform(core, undefined, confirmEmail, { emailId: id, signature: link.get('signature')! })
  await expect(confirmed).rejects.toMatchObject({ failure: { code: 'refused' } })
  await perform(core, root, addEmailOfUser, { user: mira.id, email: 'mira@work.test' })
  await untilTrue(async () => (await counts()).open === 0)
  expect(receiver.mails).toHaveLength(1)
})

test('one address gets at most five mails a day, and a user adds at most 20 addresses an hour', async () => {
  const core = startMails(toServer((await startReceiver()).url))
  const request = { address: '192.0.2.1' }
  const addAs = (user: User, email: string) => perform(core, user, addOwnEmail, { email }, { request })
  const people = await Promise.all(Array.from({ length: 6 }, (_, index) => world.user(`user${index}`)))
  for (const user of people.slice(0, 5)) await addAs(user, 'Target@home.test')
  await expect(addAs(people[5]!, 'target@home.test')).rejects.toMatchObject({ failure: { code: 'too_often' } })
  const { id } = await addAs(people[5]!, 'a@home.test')
  await perform(core, people[5]!, removeOwnEmail, { emailId: id })
  const tries = Array.from({ length: 19 }, (_, index) => `b${index}@home.test`)
  const failures: string[] = []
  for (const email of tries) await addAs(people[5]!, email).catch(({ failure }) => failures.push(failure.code))
  expect(failures).toEqual(['too_often'])
})

test('two users who confirm one address at the same time: one keeps it, and the other is refused', async () => {
  const receiver = await startReceiver()
  const core = startMails(toServer(receiver.url))
  const noor = await world.user('noor')
  await add(core, 'shared@home.test')
  await perform(core, noor, addOwnEmail, { email: 'shared@home.test' })
  await untilTrue(() => receiver.mails.length === 2)
  const results = await Promise.allSettled(
    receiver.mails.map(({ parsed }) => {
      const link = linkIn(parsed.text!)
      const input = { emailId: Number(link.get('id')), signature: link.get('signature')! }
      return perform(core, undefined, confirmEmail, input)
    }),
  )
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refused = results.find((result) => result.status === 'rejected')
  expect(refused!.reason).toMatchObject({ failure: { code: 'refused' } })
})
