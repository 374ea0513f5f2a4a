import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld

  beforeAll(async () => {
    world = await GoWorld.start()
    await world.asRoot('Projects.CreateProject', { name: 'Tools', path: 'tools' })
  })

  afterAll(() => world.close())

  const at = 'root/tools'
  const url = 'https://ci.example.test/in'

  test('creates, lists, changes and deletes webhooks, with headers and variables', async () => {
    const draft = { url: `${url}/{tenant}`, issues_events: true, push_events: false }
    expect(await world.asRoot('Projects.AddProjectHook', at, draft)).toMatchObject({
      status: 422,
      error: '{error: Invalid url given}',
    })
    const { status, result: made } = await world.asRoot('Projects.AddProjectHook', at, { ...draft, url })
    expect(status).toBe(201)
    expect(made).toMatchObject({ url, issues_events: true, push_events: false, enable_ssl_verification: true })
    const { id } = made
    const set = (method: string, key: string, value: string) =>
      world.asRoot(`Projects.${method}`, at, id, key, { value })
    expect(await set('SetProjectWebhookURLVariable', 'tenant', 'blue')).toMatchObject({ status: 204 })
    expect(await set('SetProjectCustomHeader', 'X-Team', 'red')).toMatchObject({ status: 204 })
    const edited = await world.asRoot('Projects.EditProjectHook', at, id, { ...draft, job_events: true })
    expect(edited).toMatchObject({ status: 200, result: { url: draft.url, job_events: true } })
    expect((await world.asRoot('Projects.ListProjectHooks', at, {})).result).toMatchObject([edited.result])
    expect((await world.asRoot('Projects.GetProjectHook', at, id)).result).toMatchObject(edited.result)
    const remove = (method: string, key: string) => world.asRoot(`Projects.${method}`, at, id, key)
    expect(await remove('DeleteProjectWebhookURLVariable', 'tenant')).toMatchObject({ status: 422 })
    expect(await remove('DeleteProjectCustomHeader', 'X-Team')).toMatchObject({ status: 404 })
    expect(await world.asRoot('Projects.DeleteProjectHook', at, id)).toMatchObject({ status: 200 })
    expect(await world.asRoot('Projects.DeleteProjectHook', at, id)).toMatchObject({ status: 204 })
  })
})
