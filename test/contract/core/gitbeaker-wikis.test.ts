import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  await root.Groups.create('Ops', 'ops')
})

afterEach(() => core.close())

test('pages of a group wiki are created, listed, shown, edited and removed', async () => {
  const made = await root.GroupWikis.create('ops', '# Start', 'Guides/Set up', { format: 'markdown' })
  const page = {
    format: 'markdown',
    slug: 'Guides/Set-up',
    title: 'Set up',
    wiki_page_meta_id: 1,
    content: '# Start',
    encoding: 'UTF-8',
    front_matter: {},
  }
  expect(made).toEqual(page)
  expect(await root.GroupWikis.all('ops', { withContent: true })).toEqual([page])
  expect((await root.GroupWikis.all('ops'))[0]).not.toHaveProperty('content')
  expect(await root.GroupWikis.show('ops', made.slug)).toEqual(page)
  expect((await root.GroupWikis.show('ops', made.slug, { renderHtml: true })).content).toMatch(/<h1[^>]*>.*Start/s)
  const edited = await root.GroupWikis.edit('ops', made.slug, { title: '/Begin' })
  expect(edited).toMatchObject({ slug: 'Begin', content: '# Start', wiki_page_meta_id: 1 })
  await root.GroupWikis.remove('ops', 'Begin')
  expect(await root.GroupWikis.all('ops')).toEqual([])
})

test('a file is attached to a group wiki', async () => {
  const attached = await root.GroupWikis.uploadAttachment('ops', {
    content: new Blob(['not a picture']),
    filename: 'net map.png',
  })
  expect(attached).toMatchObject({ file_name: 'net_map.png', branch: 'main' })
  const { file_path: path, link } = attached as unknown as { file_path: string; link: object }
  expect(link).toEqual({ url: path, markdown: `![net_map](${path})` })
})
