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

  // The client sends a level as its number in GitLab's database, and reads it as a name.
  test.each([
    ['GetGlobalSettings', []],
    ['GetSettingsForGroup', ['ops']],
    ['GetSettingsForProject', ['ops/tools']],
  ])('%s', async (method, args) => {
    const { status, result } = await world.asRoot(`NotificationSettings.${method}`, ...args)
    expect(status).toBe(200)
    expect(result.level).toBe(args.length === 0 ? 'participating' : 'global')
  })

  test('switches are stored', async () => {
    const changed = await world.asRoot('NotificationSettings.UpdateSettingsForProject', 'ops/tools', {
      level: 'custom',
      new_note: true,
    })
    expect(changed).toMatchObject({ status: 200, result: { level: 'custom', events: { new_note: true } } })
  })
})
