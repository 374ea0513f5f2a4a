import { groupWikis, projectWikis, testHook, updateProject } from '@penstock/core'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

test('changes of wiki pages fire the switch, with the content as of their commit', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ wikiPageEvents: true })
  const on = { parent: hooks.project.id }
  const page = { ...on, title: 'Guides/Set up', content: '* Start [[/a.png]]', format: 'org' }
  await hooks.perform(projectWikis.create, page)
  await hooks.perform(projectWikis.update, { ...on, slug: 'Guides/Set-up', title: 'Begin', content: 'Later' })
  await hooks.perform(projectWikis.update, { ...on, slug: 'Guides/Begin', content: 'Later' })
  await hooks.perform(projectWikis.remove, { ...on, slug: 'Guides/Begin' })
  const root = { ...hooks.mira, isAdministrator: true }
  await hooks.perform(groupWikis.create, { parent: 'ops', title: 'home', content: 'x' }, { actor: root })
  const bodies = await hooks.bodies(3)
  await hooks.idle()
  expect(hooks.receiver.requests.map(({ headers }) => headers['x-svc-event'])).toEqual(Array(3).fill('Wiki Page Hook'))
  const attributes = bodies.map((body) => body.object_attributes as Record<string, string>)
  const [created, updated, removed] = ['create', 'update', 'delete'].map((action) =>
    attributes.find((each) => each.action === action),
  )
  expect(created).toEqual({
    slug: 'Guides/Set-up',
    title: 'Set up',
    format: 'org',
    content: '* Start [[/a.png]]',
    message: 'mira created page: Set up',
    version_id: expect.stringMatching(/^[0-9a-f]{40}$/),
    url: 'https://svc.example.test/ops/tools/-/wikis/Guides/Set-up',
    action: 'create',
    diff_url: `https://svc.example.test/ops/tools/-/wikis/Guides/Set-up/diff?version_id=${created!.version_id}`,
  })
  const begin = { slug: 'Guides/Begin', title: 'Begin', format: 'org', content: 'Later' }
  expect(updated).toMatchObject({ ...begin, message: 'mira updated page: Begin' })
  expect(removed).toMatchObject({ ...begin, message: 'mira deleted page: Begin' })
  expect(bodies[0]).toMatchObject({
    object_kind: 'wiki_page',
    user: { username: 'mira' },
    project: { id: hooks.project.id, path_with_namespace: 'ops/tools' },
    wiki: {
      web_url: 'https://svc.example.test/ops/tools/-/wikis/home',
      git_http_url: 'https://svc.example.test/ops/tools.wiki.git',
      path_with_namespace: 'ops/tools.wiki',
      default_branch: 'main',
    },
  })
})

test('a test sends the first page, or says that there is none', async () => {
  const hooks = await HookWorld.open()
  const { id: hookId } = await hooks.hook()
  const tried = () => hooks.perform(testHook, { hookId, trigger: 'wiki_page_events' }).catch((error) => error.failure)
  const missing = { code: 'impossible', message: 'Ensure the wiki is enabled and has pages.' }
  expect(await tried()).toEqual(missing)
  const page = { parent: hooks.project.id, content: 'x' }
  await hooks.perform(projectWikis.create, { ...page, title: 'b' })
  await hooks.perform(projectWikis.create, { ...page, title: 'a', content: 'first' })
  await tried()
  const [body] = await hooks.bodies(1)
  expect(body!.object_attributes).toMatchObject({ slug: 'a', action: 'create', content: 'first' })
  await hooks.perform(updateProject, { wikiEnabled: false })
  expect(await tried()).toEqual(missing)
})
