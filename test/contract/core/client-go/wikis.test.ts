import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld

  beforeAll(async () => {
    world = await GoWorld.start()
  })

  afterAll(() => world.close())

  beforeAll(async () => {
    const { result: group } = await world.asRoot('Groups.CreateGroup', { name: 'Ops', path: 'ops' })
    await world.asRoot('Projects.CreateProject', { name: 'Tools', path: 'tools', namespace_id: group.id })
  })

  test.each([
    ['group', 'ops', { all: 'GroupWikis.ListGroupWikis', one: 'GroupWikis.%GroupWikiPage' }],
    ['project', 'ops/tools', { all: 'Wikis.ListWikis', one: 'Wikis.%WikiPage' }],
  ])('creates, lists, reads, edits and deletes pages of a %s wiki', async (_, at, calls) => {
    const call = (verb: string) => calls.one.replace('%', verb)
    const draft = { title: 'Guides/Set up', content: '# Start *here*', format: 'markdown' }
    const { status, result: made } = await world.asRoot(call('Create'), at, draft)
    expect(status).toBe(201)
    expect(made).toEqual({
      content: '# Start *here*',
      encoding: 'UTF-8',
      format: 'markdown',
      slug: 'Guides/Set-up',
      title: 'Set up',
    })
    const { result: listed } = await world.asRoot(calls.all, at, { with_content: true })
    expect(listed).toEqual([made])
    const { result: html } = await world.asRoot(call('Get'), at, made.slug, { render_html: true })
    expect(html.content).toContain('<em>here</em>')
    const change = { title: 'Run', content: 'Later' }
    const { result: edited } = await world.asRoot(call('Edit'), at, made.slug, change)
    expect(edited).toEqual({ ...made, slug: 'Guides/Run', title: 'Run', content: 'Later' })
    expect(await world.asRoot(call('Delete'), at, edited.slug)).toMatchObject({ status: 204 })
    expect(await world.asRoot(call('Get'), at, edited.slug, {})).toMatchObject({ status: 404 })
  })
})
