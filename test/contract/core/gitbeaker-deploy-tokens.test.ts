import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  const { id: namespaceId } = await root.Groups.create('Ops', 'ops')
  await root.Projects.create({ name: 'Tools', path: 'tools', namespaceId })
})

afterEach(() => core.close())

test.each([
  ['group', { groupId: 'ops' }],
  ['project', { projectId: 'ops/tools' }],
] as const)('deploy tokens of a %s are created, listed, shown and removed', async (_, on) => {
  const made = await root.DeployTokens.create('registry', ['read_registry'], { ...on, expires_at: '2099-01-01' })
  const token = {
    id: made.id,
    name: 'registry',
    username: expect.stringMatching(/\+deploy-token-\d+$/),
    expires_at: '2099-01-01T00:00:00.000Z',
    scopes: ['read_registry'],
    revoked: false,
    expired: false,
  }
  expect(made).toEqual({ ...token, token: expect.any(String) })
  expect(await root.DeployTokens.all({ ...on, active: true })).toEqual([token])
  expect(await root.DeployTokens.all()).toEqual([token])
  expect(await root.DeployTokens.show(made.id, on)).toEqual(token)
  await root.DeployTokens.remove(made.id, on)
  expect(await root.DeployTokens.all(on)).toEqual([])
})
