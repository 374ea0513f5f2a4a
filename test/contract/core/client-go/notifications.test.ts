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

  test.each([
    ['Global', 'GetGlobalSettings', []],
    ['ForGroup', 'GetSettingsForGroup', ['ops']],
    ['ForProject', 'GetSettingsForProject', ['ops/tools']],
  ])('a level is stored: %s', async (where, read, args) => {
    const method = where === 'Global' ? 'UpdateGlobalSettings' : `UpdateSettings${where}`
    const call = (name: string, ...more: readonly unknown[]) =>
      world.asRoot(`NotificationSettings.${name}`, ...args, ...more)
    for (const level of ['watch', 'mention']) {
      expect(await call(method, { level })).toMatchObject({ status: 200, result: { level } })
      expect((await call(read)).result.level).toBe(level)
    }
  })

  test('own e-mail addresses are added, shown and removed', async () => {
    const { status, result: added } = await world.asRoot('Users.AddEmail', { email: 'root@home.test' })
    expect([status, added]).toMatchObject([201, { email: 'root@home.test' }])
    expect((await world.asRoot('Users.GetEmail', added.id)).result).toEqual(added)
    const emails = async () => (await world.asRoot('Users.ListEmails')).result
    expect(await emails()).toContainEqual(added)
    expect(await world.asRoot('Users.AddEmail', { email: 'nowhere' })).toMatchObject({ status: 400 })
    expect(await world.asRoot('Users.DeleteEmail', added.id)).toMatchObject({ status: 204 })
    expect(await emails()).not.toContainEqual(added)
    expect(await world.asRoot('Users.GetEmail', added.id)).toMatchObject({ status: 404 })
  })

  test('administrators add, list and remove e-mail addresses of others', async () => {
    const { result: user } = await world.asRoot('Users.CreateUser', {
      email: 'pia@example.test',
      username: 'pia',
      name: 'Pia',
      force_random_password: true,
    })
    const draft = { email: 'pia@home.test', skip_confirmation: true }
    const { result: added } = await world.asRoot('Users.AddEmailForUser', user.id, draft)
    expect(added).toMatchObject({ email: 'pia@home.test', confirmed_at: expect.stringMatching(/^\d{4}-/) })
    const emails = async () => (await world.asRoot('Users.ListEmailsForUser', user.id, {})).result
    expect(await emails()).toContainEqual(added)
    expect(await world.asRoot('Users.DeleteEmailForUser', user.id, added.id)).toMatchObject({ status: 204 })
    expect((await emails()).map(({ email }: { readonly email: string }) => email)).toEqual(['pia@example.test'])
  })
})
