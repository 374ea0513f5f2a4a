import { afterAll, expect, test } from 'vitest'
import { MarkupRenderer, type Reference } from './index.ts'

const renderer = MarkupRenderer.start({ threads: 1 })
afterAll(() => renderer.close())

const markdown = (text: string) => renderer.render({ format: 'markdown', text })

test('renders a paragraph with its position in the source', async () => {
  expect(await markdown('Content for wiki page')).toBe(
    '<p data-sourcepos="1:1-1:21" dir="auto">Content for wiki page</p>\n',
  )
})

test('shows RDoc as it is written', async () => {
  expect(await renderer.render({ format: 'rdoc', text: '\n= Title\n<b>&amp;</b>\n' })).toBe(
    '<pre>\n\n= Title\n&lt;b>&amp;amp;&lt;/b>\n</pre>',
  )
})

test('asks once which references become links, and only about those outside code and links', async () => {
  const asked: (readonly Reference[])[] = []
  const html = await renderer.render({
    format: 'markdown',
    text: '#12 and #12, !3, @ada. `#1` [#2](x)',
    resolve: async (references) => {
      asked.push(references)
      return references.map(({ text }) => (text === '#12' ? { href: '/p/-/issues/12', title: '"Leak"' } : undefined))
    },
  })
  expect(asked).toEqual([
    [
      { kind: 'issue', project: undefined, iid: 12, text: '#12' },
      { kind: 'merge_request', project: undefined, iid: 3, text: '!3' },
      { kind: 'user', name: 'ada', text: '@ada' },
    ],
  ])
  const link = '<a href="/p/-/issues/12" class="gfm gfm-issue" title="&quot;Leak&quot;">#12</a>'
  expect(html).toContain(`${link} and ${link}, !3, @ada. <code>#1</code>`)
})

test('highlights a file in lines', async () => {
  expect(await renderer.highlight({ text: 'puts "a"\n<b>\n', fileName: 'lib/run.rb' })).toBe(
    '<span id="LC1" class="line" lang="ruby">puts <span class="hljs-string">&quot;a&quot;</span></span>\n' +
      '<span id="LC2" class="line" lang="ruby">&lt;b&gt;</span>',
  )
})
