import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { User } from '../../base/model/user.ts'
import type { EventListener } from '../../base/operations/context.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { perform } from '../../base/operations/perform.ts'
import { chargeStorage } from '../../identity/projects/storage-store.ts'
import { openWiki } from './change-wiki.ts'
import { groupWikis, projectWikis } from './wiki-operations.ts'

let world: World
let mira: User
let group: Group
let events: DomainEvent[]

beforeEach(async () => {
  world = await World.open({ projectStorageBytes: 6_000_000 })
  mira = await world.user('mira')
  group = await world.group('ops')
  await world.member(group, mira, accessLevels.owner)
  events = []
})

afterEach(() => world.close())

const types: EventListener['types'] = { has: () => true } as never
const listener: EventListener = {
  types,
  async onEvent(_, event) {
    events.push(event)
  },
}
const listened = () => ({ ...world.core, listeners: [listener] })
const tip = async () => (await openWiki(world.core, { kind: 'group', id: group.id }))!.head.tip

test('events name the page and its commit, and do not contain its content', async () => {
  const content = 'long '.repeat(900_000)
  const page = await perform(listened(), mira, groupWikis.create, { parent: group.id, title: 'Guides/Set up', content })
  const created = await tip()
  await perform(listened(), mira, groupWikis.update, { parent: group.id, slug: page.slug, title: 'Begin' })
  const updated = await tip()
  await perform(listened(), mira, groupWikis.update, { parent: group.id, slug: 'Guides/Begin', content: 'short' })
  const changed = await tip()
  await perform(listened(), mira, groupWikis.update, { parent: group.id, slug: 'Guides/Begin', content: 'short' })
  await perform(listened(), mira, groupWikis.remove, { parent: group.id, slug: 'Guides/Begin' })
  const begin = { slug: 'Guides/Begin', title: 'Begin', format: 'markdown' }
  expect(events.map(({ type, objectId, groupId, details }) => ({ type, objectId, groupId, details }))).toEqual(
    [
      { type: 'wiki_page.created', details: { ...begin, slug: 'Guides/Set-up', title: 'Set up', version: created } },
      { type: 'wiki_page.updated', details: { ...begin, version: updated } },
      { type: 'wiki_page.updated', details: { ...begin, version: changed } },
      { type: 'wiki_page.removed', details: { ...begin, version: await tip() } },
    ].map((event) => ({ ...event, objectId: page.id, groupId: group.id })),
  )
  expect(events.map(({ changes }) => Object.keys(changes!))).toEqual([
    ['slug', 'title', 'format', 'contentId'],
    ['slug', 'title'],
    ['contentId'],
    ['slug', 'title', 'format', 'contentId'],
  ])
  expect(JSON.stringify(events).length).toBeLessThan(5_000)
})

test('a full wiki is called a wiki of the group', async () => {
  const create = (title: string, content: string) =>
    world.perform(mira, groupWikis.create, { parent: group.id, title, content })
  const noise = () => Buffer.from(world.core.randomBytes(3_000_000)).toString('base64')
  const full = { code: 'storage_full', of: 'group wiki', limitBytes: 6_000_000 }
  let failure: unknown
  for (let number = 0; failure === undefined && number < 10; number += 1) {
    failure = await create(`page ${number}`, noise()).then(
      () => undefined,
      (error: DomainError) => error.failure,
    )
  }
  expect(failure).toMatchObject(full)
  await world.core.db.write((tx) => tx.updateTable('repository_sizes').set({ bytes: 6_000_000 }).execute())
  const removal = world.perform(mira, groupWikis.remove, { parent: group.id, slug: 'page-0' })
  await expect(removal.catch((error: DomainError) => error.failure)).resolves.toEqual({
    code: 'impossible',
    message: 'The wiki has no space left, which the commit of a removal needs too.',
  })
})

test('the wiki of a project may grow as far as the project has space left', async () => {
  const project = await world.project('tools', group)
  await world.core.db.write((db) => chargeStorage({ db }, world.core, project.id, { recordsBytes: 5_950_000 }))
  const create = (title: string, content: string) =>
    world.perform(mira, projectWikis.create, { parent: project.id, title, content })
  await create('small', 'x')
  const noise = Buffer.from(world.core.randomBytes(60_000)).toString('base64')
  const refusal = create('large', noise).catch((error: DomainError) => error.failure)
  await expect(refusal).resolves.toMatchObject({ code: 'storage_full', limitBytes: 6_000_000 })
  expect(await world.perform(mira, projectWikis.list, { parent: project.id })).toHaveLength(1)
})
