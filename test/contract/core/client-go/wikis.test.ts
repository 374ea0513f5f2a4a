import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld

  beforeAll(async () => {
    world = await GoWorld.start()
  })

  afterAll(() => world.close())

  test('creates, lists, reads, edits and deletes pages of a group wiki', async () => {
    await world.asRoot('Groups.CreateGroup', { name: 'Ops', path: 'ops' })
    const draft = { title: 'Guides/Set up', content: '# Start *here*', format: 'markdown' }
    const { status, result: made } = await world.asRoot('GroupWikis.CreateGroupWikiPage', 'ops', draft)
    expect(status).toBe(201)
    expect(made).toEqual({
      content: '# Start *here*',
      encoding: 'UTF-8',
      format: 'markdown',
      slug: 'Guides/Set-up',
      title: 'Set up',
    })
    const { result: listed } = await world.asRoot('GroupWikis.ListGroupWikis', 'ops', { with_content: true })
    expect(listed).toEqual([made])
    const { result: html } = await world.asRoot('GroupWikis.GetGroupWikiPage', 'ops', made.slug, { render_html: true })
    expect(html.content).toContain('<em>here</em>')
    const change = { title: 'Run', content: 'Later' }
    const { result: edited } = await world.asRoot('GroupWikis.EditGroupWikiPage', 'ops', made.slug, change)
    expect(edited).toEqual({ ...made, slug: 'Guides/Run', title: 'Run', content: 'Later' })
    expect(await world.asRoot('GroupWikis.DeleteGroupWikiPage', 'ops', edited.slug)).toMatchObject({ status: 204 })
    expect(await world.asRoot('GroupWikis.GetGroupWikiPage', 'ops', edited.slug, {})).toMatchObject({ status: 404 })
  })
})
