import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { groupDeployTokens, projectDeployTokens } from '../deploy-tokens/deploy-token-operations.ts'
import { createGroupToken, createProjectToken, revokeProjectToken } from './bot-token-operations.ts'
import { announceExpiringTokens } from './expiring-tokens.ts'
import { createPersonalToken } from './personal-token-operations.ts'

// The clock starts on 2026-02-03.
const DAY_MS = 86_400_000
let world: World
let mira: User
let ops: Group
let tools: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.owner)
  tools = await world.project('tools', ops)
})

afterEach(() => world.close())

const announced = async () => {
  const rows = await world.core.db.read
    .selectFrom('events')
    .select(['type', 'object_id', 'project_id', 'group_id', 'details'])
    .where('type', 'like', '%.expiring')
    .orderBy('id')
    .execute()
  return rows.map((row) => [row.type, row.object_id, row.project_id, row.group_id, JSON.parse(row.details).name])
}
const access = { scopes: ['api'], accessLevel: 30 }
const deploy = { scopes: ['read_registry'] }

test('tokens of projects and groups are announced once, from seven days before they expire', async () => {
  const { perform } = world
  const inProject = { ...access, project: tools.id }
  const a = await world.perform(mira, createProjectToken, { ...inProject, name: 'a', expiresAt: '2026-02-10' })
  const revoked = await world.perform(mira, createProjectToken, { ...inProject, name: 'b', expiresAt: '2026-02-10' })
  await world.perform(mira, revokeProjectToken, { project: tools.id, tokenId: revoked.id })
  const later = await world.perform(mira, createProjectToken, { ...inProject, name: 'c', expiresAt: '2026-02-11' })
  const ofGroup = { ...access, group: ops.id, name: 'd', expiresAt: '2026-02-09' }
  const d = await world.perform(mira, createGroupToken, ofGroup)
  await perform.call(world, { ...mira, isAdministrator: true }, createPersonalToken, {
    ...{ userId: mira.id, name: 'own', scopes: ['api'], expiresAt: '2026-02-09' },
  })
  const at = (days: number) => new Date(world.clock.nowMs() + days * DAY_MS).toISOString()
  const on = { ...deploy, parent: tools.id }
  const e = await world.perform(mira, projectDeployTokens.create, { ...on, name: 'e', expiresAt: at(7) })
  await world.perform(mira, projectDeployTokens.create, { ...on, name: 'f', expiresAt: at(7.01) })
  await world.perform(mira, projectDeployTokens.create, { ...on, name: 'endless' })
  await world.perform(mira, projectDeployTokens.create, { ...on, name: 'expired', expiresAt: at(-1) })
  const g = await world.perform(mira, groupDeployTokens.create, {
    ...deploy,
    parent: ops.id,
    name: 'g',
    expiresAt: at(1),
  })
  const expected = [
    ['access_token.expiring', a.id, tools.id, null, 'a'],
    ['access_token.expiring', d.id, null, ops.id, 'd'],
    ['deploy_token.expiring', e.id, tools.id, null, 'e'],
    ['deploy_token.expiring', g.id, null, ops.id, 'g'],
  ]
  for (let passes = 0; passes < 2; passes += 1) {
    await announceExpiringTokens(world.core)
    expect(await announced()).toEqual(expected)
  }
  await world.clock.advance(DAY_MS)
  await announceExpiringTokens(world.core)
  expect((await announced()).slice(expected.length)).toEqual([
    ['access_token.expiring', later.id, tools.id, null, 'c'],
    ['deploy_token.expiring', expect.any(Number), tools.id, null, 'f'],
  ])
})

test('several processes together announce each token once', async () => {
  const row = { project_id: tools.id, name: 'x', scopes: '[]', digest: '', created_at_ms: 0 }
  const expires = { expires_at_ms: world.clock.nowMs() + DAY_MS }
  await world.core.db.write((db) =>
    db
      .insertInto('deploy_tokens')
      .values(Array(250).fill({ ...row, ...expires }))
      .execute(),
  )
  await Promise.all([1, 2, 3, 4].map(() => announceExpiringTokens({ ...world.core })))
  const ids = (await announced()).map(([, id]) => id)
  expect([ids.length, new Set(ids).size]).toEqual([250, 250])
})
