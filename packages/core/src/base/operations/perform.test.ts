import { isBrokenReference, MAX_PENDING_WRITES, SearchBudgetError } from '@penstock/db'
import { World } from '@penstock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getGroup } from '../../identity/groups/group-store.ts'
import { DomainError } from '../kit/domain-error.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import { accessLevels } from '../model/access-level.ts'
import type { EventListener } from './context.ts'
import { command, unscopedCommand, unscopedQuery } from './operation.ts'
import { perform } from './perform.ts'

let world: World

beforeEach(async () => {
  world = await World.open()
})

afterEach(() => world.close())

const rename = command(
  {
    name: 'rename',
    input: z.object({ group: namespaceRef, title: z.string().min(1) }),
    permission: 'admin_group',
    subject: (context, { group }) => getGroup(context, group),
  },
  async ({ subject, recordEvent }, { title }) => {
    await recordEvent({ type: 'group.renamed', objectId: subject.id })
    if (title === 'fails') throw new Error('half done')
    return `${subject.fullPath}: ${title}`
  },
)

/** A command with a fault: it does not check that the project exists. */
const star = unscopedCommand(
  { name: 'star', input: z.object({ project: z.int() }) },
  async ({ db, nowMs, actor }, { project }) => {
    const row = { project_id: project, user_id: actor!.id, created_at_ms: nowMs }
    await db.insertInto('project_stars').values(row).execute()
  },
)

const failure = (error: DomainError) => error.failure

describe('perform', () => {
  test('reports a missing credential before an invalid parameter', async () => {
    const refused = await world.perform(undefined, rename, {}).catch(failure)
    expect(refused).toEqual({ code: 'unauthenticated' })
  })

  test('reports an invalid parameter before a missing permission', async () => {
    const mira = await world.user('mira')
    const refused = await world.perform(mira, rename, { group: 'ops', title: '' }).catch(failure)
    expect(refused).toEqual({ code: 'parameters', problems: [{ path: ['title'], problem: 'empty' }] })
  })

  test('answers not_found for a subject that the actor may not see, and forbidden for one that they may only see', async () => {
    const [mira, hidden, open] = [
      await world.user('mira'),
      await world.group('ops'),
      await world.group('web', { visibility: 'public' }),
    ]
    const answers = [hidden, open].map(({ id }) =>
      world.perform(mira, rename, { group: id, title: 'x' }).catch(failure),
    )
    expect(await Promise.all(answers)).toEqual([{ code: 'not_found', what: 'Group' }, { code: 'forbidden' }])
  })

  test('answers a conflict if the user was removed after the request was authenticated', async () => {
    const mira = await world.user('mira')
    const { id } = await world.project('tools', await world.group('ops'))
    await world.core.db.write((db) => db.deleteFrom('users').where('id', '=', mira.id).execute())
    expect(await world.perform(mira, star, { project: id }).catch(failure)).toEqual({
      code: 'conflict',
      reason: 'The user of the request was removed in between',
    })
  })

  test('does not hide the error of a row that refers to another missing row, because that is a fault of the operation', async () => {
    const mira = await world.user('mira')
    const error = await world.perform(mira, star, { project: 99 }).catch((thrown: unknown) => thrown)
    expect([isBrokenReference(error), error instanceof DomainError]).toEqual([true, false])
  })

  test('calls listeners inside the transaction, which their errors roll back', async () => {
    const [mira, group] = [await world.user('mira'), await world.group('ops')]
    const heard: unknown[] = []
    const listener: EventListener = {
      types: new Set(['group.renamed']),
      async onEvent(tx, event) {
        const { rows } = await sql`select 1 from events where type = ${event.type}`.execute(tx.db)
        heard.push({ ...event, rows: rows.length })
        if (heard.length > 1) throw new Error('not a second time')
      },
    }
    const core = { ...world.core, listeners: [listener] }
    const act = () => perform(core, { ...mira, isAdministrator: true }, rename, { group: group.id, title: 'x' })
    await act()
    await expect(act()).rejects.toThrow('not a second time')
    const event = { type: 'group.renamed', objectId: group.id, actorId: mira.id }
    expect(heard).toEqual([
      { ...event, rows: 1 },
      { ...event, rows: 2 },
    ])
    const kept = await world.core.db.read.selectFrom('events').selectAll().where('type', '=', 'group.renamed').execute()
    expect(kept).toHaveLength(1)
  })

  test('roles come from the groups above, and end on their expiry date', async () => {
    const [mira, noor] = [await world.user('mira'), await world.user('noor')]
    const ops = await world.group('ops')
    await world.group('infra', { parent: ops })
    await world.member(ops, mira, accessLevels.owner)
    await world.member(ops, noor, accessLevels.owner, '2026-02-03')
    expect(await world.perform(mira, rename, { group: 'OPS/infra', title: 'x' })).toBe('ops/infra: x')
    const ended = await world.perform(noor, rename, { group: 'ops/infra', title: 'x' }).catch(failure)
    expect(ended).toEqual({ code: 'not_found', what: 'Group' })
  })

  test('a command that fails changes nothing', async () => {
    const admin = await world.user('root', { isAdministrator: true })
    await world.group('ops')
    await expect(world.perform(admin, rename, { group: 'ops', title: 'fails' })).rejects.toThrow('half done')
    await world.perform(admin, rename, { group: 'ops', title: 'works' })
    expect(await world.core.db.read.selectFrom('events').select(['id', 'actor_id']).execute()).toHaveLength(1)
  })

  test('rejects a write with the time to retry while the queue of writes is full', async () => {
    const group = await world.group('busy')
    const root = await world.user('admin', { isAdministrator: true })
    const waiting = Array.from({ length: MAX_PENDING_WRITES }, () => world.core.db.write(async () => {}))
    const input = { group: group.id, title: 'a' }
    const refused = await world.perform(root, rename, input).catch(failure)
    expect(refused).toEqual({ code: 'unavailable', retryAfterSeconds: 5 })
    await Promise.all(waiting)
    expect(await world.perform(root, rename, input)).toBe('busy: a')
  })

  test('refuses a search that takes too long, instead of asking to repeat it', async () => {
    const slow = unscopedQuery({ name: 'slow', caller: 'anyone', input: z.object({}) }, async () => {
      throw new SearchBudgetError()
    })
    const message = 'The search takes too long. Search for a longer text, or among fewer items'
    expect(await world.perform(undefined, slow, {}).catch(failure)).toEqual({ code: 'impossible', message })
  })

  test('afterCommit runs only if the transaction commits, and its errors are ignored', async () => {
    const followed: string[] = []
    const change = unscopedCommand(
      { name: 'change', input: z.object({ title: z.string() }) },
      async (tx, { title }) => {
        tx.afterCommit(async () => {
          followed.push(title)
          throw new Error('too late')
        })
        if (title === 'fails') throw new Error('half done')
        return followed.length
      },
    )
    const mira = await world.user('mira')
    await expect(world.perform(mira, change, { title: 'fails' })).rejects.toThrow('half done')
    expect(await world.perform(mira, change, { title: 'kept' })).toBe(0)
    expect(followed).toEqual(['kept'])
  })

  test('afterCommit runs the same function once', async () => {
    let runs = 0
    const work = async () => {
      runs += 1
    }
    const change = unscopedCommand({ name: 'change', input: z.object({}) }, async (tx) => {
      tx.afterCommit(work)
      tx.afterCommit(work)
    })
    await world.perform(await world.user('mira'), change, {})
    expect(runs).toBe(1)
  })
})
