import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { RunningCore } from '../running-core.ts'
import { GoClient } from './go-client.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let core: RunningCore
  let client: GoClient

  beforeAll(async () => {
    core = await RunningCore.start()
    client = new GoClient(core.url)
  })

  afterAll(async () => {
    await client.close()
    await core.close()
  })

  const asRoot = (method: string, ...args: readonly unknown[]) => client.call(core.rootToken, method, ...args)

  test('creates, lists, reads, edits and deletes pages of a group wiki', async () => {
    await asRoot('Groups.CreateGroup', { name: 'Ops', path: 'ops' })
    const draft = { title: 'Guides/Set up', content: '# Start *here*', format: 'markdown' }
    const { status, result: made } = await asRoot('GroupWikis.CreateGroupWikiPage', 'ops', draft)
    expect(status).toBe(201)
    expect(made).toEqual({
      content: '# Start *here*',
      encoding: 'UTF-8',
      format: 'markdown',
      slug: 'Guides/Set-up',
      title: 'Set up',
    })
    const { result: listed } = await asRoot('GroupWikis.ListGroupWikis', 'ops', { with_content: true })
    expect(listed).toEqual([made])
    const { result: html } = await asRoot('GroupWikis.GetGroupWikiPage', 'ops', made.slug, { render_html: true })
    expect(html.content).toContain('<em>here</em>')
    const change = { title: 'Run', content: 'Later' }
    const { result: edited } = await asRoot('GroupWikis.EditGroupWikiPage', 'ops', made.slug, change)
    expect(edited).toEqual({ ...made, slug: 'Guides/Run', title: 'Run', content: 'Later' })
    expect(await asRoot('GroupWikis.DeleteGroupWikiPage', 'ops', edited.slug)).toMatchObject({ status: 204 })
    expect(await asRoot('GroupWikis.GetGroupWikiPage', 'ops', edited.slug, {})).toMatchObject({ status: 404 })
  })
})
