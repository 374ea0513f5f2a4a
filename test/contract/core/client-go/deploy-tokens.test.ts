import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld

  beforeAll(async () => {
    world = await GoWorld.start()
    const { result: group } = await world.asRoot('Groups.CreateGroup', { name: 'Ops', path: 'ops' })
    await world.asRoot('Projects.CreateProject', { name: 'Tools', path: 'tools', namespace_id: group.id })
  })

  afterAll(() => world.close())

  test.each([
    ['Group', 'ops'],
    ['Project', 'ops/tools'],
  ])('creates, lists, reads and deletes deploy tokens of a %s', async (kind, at) => {
    const call = (verb: string, s = '') => `DeployTokens.${verb}${kind}DeployToken${s}`
    const draft = { name: 'registry', scopes: ['read_registry'], expires_at: '2099-01-01T00:00:00Z', username: 'bot' }
    const { status, result: made } = await world.asRoot(call('Create'), at, draft)
    expect(status).toBe(201)
    expect(made).toMatchObject({ ...draft, revoked: false, expired: false, token: expect.stringMatching(/.{40}/) })
    const { token: _, ...shown } = made
    const { result: listed } = await world.asRoot(call('List', 's'), at, {})
    expect(listed).toMatchObject([shown])
    expect((await world.asRoot(call('Get'), at, made.id)).result).toMatchObject(shown)
    expect((await world.asRoot('DeployTokens.ListAllDeployTokens', {})).result).toMatchObject([shown])
    expect(await world.asRoot(call('Delete'), at, made.id)).toMatchObject({ status: 204 })
    expect(await world.asRoot(call('Get'), at, made.id)).toMatchObject({ status: 404 })
  })
})
