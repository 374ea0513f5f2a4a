import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getProject } from '../../identity/projects/project-store.ts'
import { sweep } from '../../sweep.ts'
import type { DomainError } from '../kit/domain-error.ts'
import { notFound } from '../kit/domain-error.ts'
import { accessLevels } from '../model/access-level.ts'
import type { User } from '../model/user.ts'
import type { CallLimit } from './call-limit.ts'
import { command, steps, unscopedCommand } from './operation.ts'
import { perform } from './perform.ts'

let world: World
let mira: User

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
})

afterEach(() => world.close())

const request = { address: '192.0.2.7' }
/** The failure of a call above the limit. The clock begins 6.789 s after a full minute. */
const tooOften = { code: 'too_often', retryAfterSeconds: 54 }
const failure = (error: DomainError) => error.failure

const ping = (limit: Partial<CallLimit<{ text: string }>>) =>
  unscopedCommand(
    {
      name: 'ping',
      caller: 'anyone',
      input: z.object({ text: z.string().default('') }),
      limits: [{ name: 'pings', per: ['user'], periodSeconds: 60, count: 2, ...limit }],
    },
    async (_, { text }) => {
      if (text === 'fails') throw notFound()
      return 'pong'
    },
  )

describe('a limit per user', () => {
  test('counts each user, and callers without a sign-in by their network', async () => {
    const operation = ping({})
    const noor = await world.user('noor')
    const call = (actor: User | undefined, address = '192.0.2.7') =>
      world.perform(actor, operation, {}, { address }).catch(failure)
    expect([await call(mira), await call(mira, '198.51.100.1'), await call(mira)]).toEqual(['pong', 'pong', tooOften])
    expect([await call(noor), await call(undefined)]).toEqual(['pong', 'pong'])
    // One subscriber has a whole /64.
    const [near, far] = ['2001:db8::1', '2001:db8::2']
    expect([await call(undefined, near), await call(undefined, far), await call(undefined, near)]).toEqual([
      'pong',
      'pong',
      tooOften,
    ])
    await world.clock.advance(53_211)
    expect(await call(mira)).toBe('pong')
  })

  test('counts calls that fail, but not those with an invalid parameter', async () => {
    const operation = ping({})
    const call = (text: unknown) => world.perform(mira, operation, { text }, request).catch(failure)
    expect(await call(7)).toMatchObject({ code: 'parameters' })
    expect([await call('fails'), await call('fails'), await call('')]).toEqual([
      { code: 'not_found' },
      { code: 'not_found' },
      tooOften,
    ])
  })

  test('does not apply to calls of the command line', async () => {
    const operation = ping({})
    for (let times = 0; times < 5; times += 1) expect(await world.perform(mira, operation, {})).toBe('pong')
  })
})

test('limits with the same name share their counts, also in cores with other listeners', async () => {
  const [one, other, apart] = [ping({}), ping({ count: 3 }), ping({ name: 'others' })]
  const core = { ...world.core, listeners: [] }
  await world.perform(mira, one, {}, request)
  await world.perform(mira, one, {}, request)
  expect(await perform(core, mira, other, {}, { request })).toBe('pong')
  expect(await perform(core, mira, other, {}, { request }).catch(failure)).toEqual(tooOften)
  expect(await perform(core, mira, apart, {}, { request })).toBe('pong')
})

test('the count may come from a setting, which 0 turns off', async () => {
  let count = 1
  const operation = ping({ count: async ({ actor }) => (actor === undefined ? 0 : count) })
  const call = (actor: User | undefined) => world.perform(actor, operation, {}, request).catch(failure)
  expect([await call(mira), await call(mira)]).toEqual(['pong', tooOften])
  expect([await call(undefined), await call(undefined)]).toEqual(['pong', 'pong'])
  count = 0
  expect(await call(mira)).toBe('pong')
  count = 3
  expect([await call(mira), await call(mira)]).toEqual(['pong', tooOften])
})

test('the key may be the address, or a text of the input of any length', async () => {
  const byAddress = ping({ per: ['address'] })
  const noor = await world.user('noor')
  for (const actor of [mira, noor]) expect(await world.perform(actor, byAddress, {}, request)).toBe('pong')
  expect(await world.perform(undefined, byAddress, {}, request).catch(failure)).toEqual(tooOften)
  expect(await world.perform(undefined, byAddress, {}, { address: '198.51.100.1' })).toBe('pong')
  const byText = ping({ name: 'texts', per: [{ of: ({ text }) => text }], count: 1 })
  const call = (text: string) => world.perform(mira, byText, { text }, request).catch(failure)
  const [long, longer] = ['x'.repeat(900), 'x'.repeat(901)]
  expect([await call('a'), await call('b'), await call('a')]).toEqual(['pong', 'pong', tooOften])
  expect([await call(long), await call(longer), await call(long)]).toEqual(['pong', 'pong', tooOften])
})

describe('a limit per user and project', () => {
  const project = z.object({ project: z.int() })
  const limits = [{ name: 'touches', per: ['user', 'subject'], periodSeconds: 60, count: 1 }] as const
  const rule = {
    name: 'touch',
    permission: 'push_code',
    subject: (context: Parameters<typeof getProject>[0], input: { project: number }) =>
      getProject(context, input.project),
  } as const
  const touch = command({ ...rule, input: project, limits }, async () => 'touched')

  test('counts after the check of the permission', async () => {
    const group = await world.group('ops')
    const [tools, site] = [await world.project('tools', group), await world.project('site', group)]
    const call = (id: number) => world.perform(mira, touch, { project: id }, request).catch(failure)
    expect(await call(tools.id)).toEqual({ code: 'not_found', what: 'Project' })
    expect(await call(tools.id)).toEqual({ code: 'not_found', what: 'Project' })
    await world.member(group, mira, accessLevels.developer)
    expect([await call(tools.id), await call(site.id), await call(tools.id)]).toEqual(['touched', 'touched', tooOften])
  })

  test('can be counted by the operation itself, after it has found something', async () => {
    const resend = steps(
      {
        ...rule,
        input: project.extend({ hook: z.int() }),
        limits: [{ ...limits[0], name: 'resends', isCountedInside: true }],
      },
      async ({ countCall }, { hook }) => {
        if (hook > 9) throw notFound('Hook')
        await countCall()
        return 'sent'
      },
    )
    const group = await world.group('ops')
    await world.member(group, mira, accessLevels.developer)
    const { id } = await world.project('tools', group)
    const call = (hook: number) => world.perform(mira, resend, { project: id, hook }, request).catch(failure)
    const unknown = { code: 'not_found', what: 'Hook' }
    expect([await call(10), await call(1), await call(10), await call(1)]).toEqual([unknown, 'sent', unknown, tooOften])
  })
})

test('the sweep deletes counts of former periods', async () => {
  const now = world.clock.nowMs()
  await world.core.db.write((db) =>
    db
      .insertInto('call_counts')
      .values([
        { key: 'former', points: 1, expire: now },
        { key: 'current', points: 1, expire: now + 1 },
      ])
      .execute(),
  )
  await sweep(world.core, { eventDays: 1 })
  expect(await world.core.db.read.selectFrom('call_counts').select('key').execute()).toEqual([{ key: 'current' }])
})
