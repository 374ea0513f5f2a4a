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

const wikis = {
  group: () => ({ of: root.GroupWikis, at: 'ops' }),
  project: () => ({ of: root.ProjectWikis, at: 'ops/tools' }),
} as const
const kinds = ['group', 'project'] as const

test.each(kinds)('pages of a %s wiki are created, listed, shown, edited and removed', async (kind) => {
  const { of, at } = wikis[kind]()
  const made = await of.create(at, '# Start', 'Guides/Set up', { format: 'markdown' })
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
  expect(await of.all(at, { withContent: true })).toEqual([page])
  expect((await of.all(at))[0]).not.toHaveProperty('content')
  expect(await of.show(at, made.slug)).toEqual(page)
  expect((await of.show(at, made.slug, { renderHtml: true })).content).toMatch(/<h1[^>]*>.*Start/s)
  const edited = await of.edit(at, made.slug, { title: '/Begin' })
  expect(edited).toMatchObject({ slug: 'Begin', content: '# Start', wiki_page_meta_id: 1 })
  await of.remove(at, 'Begin')
  expect(await of.all(at)).toEqual([])
})

test.each(kinds)('a file is attached to a %s wiki', async (kind) => {
  const { of, at } = wikis[kind]()
  const attached = await of.uploadAttachment(at, {
    content: new Blob(['not a picture']),
    filename: 'net map.png',
  })
  expect(attached).toMatchObject({ file_name: 'net_map.png', branch: 'main' })
  const { file_path: path, link } = attached as unknown as { file_path: string; link: object }
  expect(link).toEqual({ url: path, markdown: `![net_map](${path})` })
})
