import { describe, expect, test } from 'vitest'
import { renderOrg } from './org.ts'
import { orgSections } from './org-sections.ts'

test.each([
  ['a title', '#+TITLE: My page\n\na', ['<h1 class="title">My page</h1>']],
  ['headlines', '* a\n** b\n******** c', ['<h1>a</h1>', '<h2>b</h2>', '<h6>c</h6>']],
  ['keywords and tags', '* TODO a :b:', ['<h1><span class="todo">TODO</span> a<span class="tag"> b</span></h1>']],
  [
    'emphasis',
    '*a* /b/ _c_ +d+ =e= ~f~',
    ['<strong>a</strong> <em>b</em> <u>c</u> <del>d</del> <code>e</code> <code>f</code>'],
  ],
  ['emphasis in emphasis', '*a /b/ =c=*', ['<strong>a <em>b</em> <code>c</code></strong>']],
  ['links', '[[https://a.test][b]] [[home]]', ['<a href="https://a.test">b</a> <a href="home">home</a>']],
  ['addresses', 'See https://a.test/x.', ['<a href="https://a.test/x">https://a.test/x</a>.']],
  ['images', '[[file:a.png]]', ['<img src="a.png">']],
  ['a nested list', '- a\n  - b\n- c', ['<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>']],
  ['numbered lists', '1. a\n2. b', ['<ol><li>a</li><li>b</li></ol>']],
  ['definitions', '- a :: b', ['<dl><dt>a</dt><dd>b</dd></dl>']],
  ['tasks', '- [X] a', ['<li><input type="checkbox" checked disabled>a</li>']],
  ['tables', '| a |\n|---|\n| b |', ['<thead><tr><td> a </td></tr></thead><tbody><tr><td> b </td></tr></tbody>']],
  ['source code', '#+begin_src ruby\n  a\n    b\n#+end_src', ['<pre><code class="language-ruby">a\n  b</code></pre>']],
  ['quotes', '#+begin_quote\na\n*b*\n#+end_quote', ['<blockquote><p>a <strong>b</strong></p></blockquote>']],
  ['preformatted lines', 'a\n: b\n:  c\nd', ['<pre class="example">b\n c</pre>', '<p>d </p>']],
  ['line breaks', 'a\\\\\nb', ['a<br> b']],
  ['footnotes', 'a[fn:1]\n\n[fn:1] b', ['<a href="#fn-1">1</a>', 'id="fn-1"']],
  ['HTML', '#+begin_export html\n<b>a</b>\n#+end_export', ['<b>a</b>']],
])('%s', (_name, text, expected) => {
  const html = renderOrg(text)
  for (const part of expected) expect(html).toContain(part)
})

test.each([
  ['comments', '# a\nb'],
  ['properties', '* b\n:PROPERTIES:\n:ID: a\n:END:'],
  ['exports for other outputs', '#+begin_export latex\na\n#+end_export\nb'],
])('leaves out %s', (_name, text) => expect(renderOrg(text)).not.toMatch(/>\s*a|:ID:/))

test('shows a section that the parser refuses as it is written, and the others rendered', () => {
  const html = renderOrg('* a\n*b*\n* c\n#+begin_export html\n#+end_export\n[[\n* d\n/e/\n')
  expect(html).toContain('<strong>b</strong>')
  expect(html).toContain('<em>e</em>')
})

describe('sections', () => {
  const lines = (count: number, line: string) => Array.from({ length: count }, () => line).join('\n')

  test('begin at headlines outside blocks', () => {
    expect(orgSections('a\n* b\n#+begin_src org\n* c\n#+end_src\n* d')).toEqual([
      'a\n',
      '* b\n#+begin_src org\n* c\n#+end_src\n',
      '* d\n',
    ])
  })
  test('end after many lines at an empty line', () => {
    expect(orgSections(`${lines(80, 'a')}\n\nb`)).toEqual([`${lines(80, 'a')}\n\n`, 'b\n'])
  })
  test('do not end within a list or a block', () => {
    expect(orgSections(`${lines(80, '- a')}\n\n- b`)).toHaveLength(1)
    expect(orgSections(`#+begin_src\n${lines(80, 'a')}\n\nb\n#+end_src`)).toHaveLength(1)
  })
})
