import { describe, expect, test } from 'vitest'
import { renderMarkdown } from './markdown.ts'

describe('GitHub extensions', () => {
  test.each([
    ['a table', '|a|b|\n|:-|-:|\n|1|`2`|', ['<th align="left">a</th>', '<td align="right"><code>2</code></td>']],
    ['strikethrough', '~~a~~', ['<s>a</s>']],
    ['an address', 'See http://a.test/x, ok', ['<a href="http://a.test/x">http://a.test/x</a>, ok']],
    ['an address with www', 'See www.a.test/x.', ['<a href="http://www.a.test/x">www.a.test/x</a>.']],
    ['an address of mail', 'ada@a.test', ['<a href="mailto:ada@a.test">']],
    ['a footnote', 'a[^1]\n\n[^1]: b', ['href="#fn1" id="fnref1"', '<li id="fn1" class="footnote-item">']],
    ['an inline footnote', 'a^[b]', ['<li id="fn1" class="footnote-item"><p>b ']],
  ])('%s', (_name, text, expected) => {
    const html = renderMarkdown(text)
    for (const part of expected) expect(html).toContain(part)
  })

  test.each([['config.md is a file'], ['example.com'], ['www.'], ['javascript:alert(1)']])('no link: %s', (text) => {
    expect(renderMarkdown(text)).not.toContain('<a')
  })

  test('tasks', () => {
    expect(renderMarkdown('- [ ] a\n- [x] b\n  1. [X] c\n- [y] d')).toBe(
      [
        '<ul class="task-list" data-sourcepos="1:1-4:7">',
        '<li class="task-list-item" data-sourcepos="1:1-1:7"><input type="checkbox" class="task-list-item-checkbox" disabled> a</li>',
        '<li class="task-list-item" data-sourcepos="2:1-3:10"><input type="checkbox" class="task-list-item-checkbox" disabled checked> b',
        '<ol class="task-list" data-sourcepos="3:3-3:10">',
        '<li class="task-list-item" data-sourcepos="3:3-3:10"><input type="checkbox" class="task-list-item-checkbox" disabled checked> c</li>',
        '</ol>',
        '</li>',
        '<li data-sourcepos="4:1-4:7">[y] d</li>',
        '</ul>',
        '',
      ].join('\n'),
    )
  })
})

describe('positions in the source', () => {
  test.each([
    ['Content for wiki page', ['<p data-sourcepos="1:1-1:21">']],
    ['a\nb\n\n# c', ['<p data-sourcepos="1:1-2:1">', '<h1 data-sourcepos="4:1-4:3">']],
    [
      '> a\n>\n> > b',
      ['<blockquote data-sourcepos="1:1-3:5">', '<p data-sourcepos="1:3-1:3">', '<p data-sourcepos="3:5-3:5">'],
    ],
    ['- a\n\n  b', ['<li data-sourcepos="1:1-3:3">', '<p data-sourcepos="1:3-1:3">', '<p data-sourcepos="3:3-3:3">']],
    ['1. - a', ['<ol data-sourcepos="1:1-1:6">', '<ul data-sourcepos="1:4-1:6">']],
    ['```ruby\na\n```', ['<pre data-sourcepos="1:1-3:3"><code class="language-ruby">a\n</code></pre>']],
    ['    a\n\n\nb', ['<pre data-sourcepos="1:5-1:5"><code>a\n</code></pre>', '<p data-sourcepos="4:1-4:1">']],
    ['a\n\n---', ['<hr data-sourcepos="3:1-3:3">']],
  ])('%j', (text, expected) => {
    const html = renderMarkdown(text)
    for (const part of expected) expect(html).toContain(part)
  })
})
