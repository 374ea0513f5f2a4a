import { expect, test, vi } from 'vitest'
import { renderAsciidoc } from './asciidoc.ts'

test.each([
  ['a title', '= Title\n\na', ['<h1>Title</h1>']],
  ['sections', '== Set up\n\na', ['<h2 id="set-up"><a class="anchor" href="#set-up"></a>Set up</h2>']],
  ['emphasis', '*a* _b_ `c` ^d^', ['<strong>a</strong>', '<em>b</em>', '<code>c</code>', '<sup>d</sup>']],
  ['lists', '* a\n** b\n\n. c', ['<div class="ulist">', '<ol class="arabic">']],
  ['tasks', '* [x] a\n* [ ] b', ['<p>&#10003; a</p>', '<p>&#10063; b</p>']],
  ['source code', '[source,ruby]\n----\nputs 1\n----', ['<code class="language-ruby" data-lang="ruby">puts 1</code>']],
  ['tables', '|===\n|a |b\n|===', ['<td class="tableblock halign-left valign-top"><p class="tableblock">a</p></td>']],
  ['notes', 'NOTE: a', ['<div class="admonitionblock note">', '<div class="title">Note</div>']],
  ['footnotes', 'afootnote:[b]', ['id="_footnoteref_1"', 'id="_footnotedef_1"']],
  ['images', 'image::a.png[b]', ['<img src="a.png" alt="b">']],
  ['attributes', ':a: b\n\n{a}', ['<p>b</p>']],
])('%s', async (_name, text, expected) => {
  const html = await renderAsciidoc(text)
  for (const part of expected) expect(html).toContain(part)
})

test.each([
  ['a file', 'include::/etc/passwd[]'],
  ['a URL', ':allow-uri-read:\n\ninclude::http://127.0.0.1:1/a.adoc[]'],
  ['the mode of the document', ':safe: unsafe\n:safe-mode-level: 0\n:safe-mode-name: unsafe\n\ninclude::/etc/passwd[]'],
])('an include of %s is a link', async (_name, text) => {
  const html = await renderAsciidoc(text)
  expect(html).toContain('class="bare include"')
  expect(html).not.toContain('root:')
})

test.each([
  ['{safe-mode-name}', 'secure'],
  [':max-attribute-value-size: 9999999\n\n{max-attribute-value-size}', '4096'],
  [':max-include-depth: 9\n\n{max-include-depth}', '0'],
  ['{docdir}{user-home}', '.'],
])('an author cannot change %j', async (text, expected) => {
  expect(await renderAsciidoc(text)).toContain(`<p>${expected}</p>`)
})

test('mistakes in a page are not written to the output of the process', async () => {
  const outputs = (['debug', 'log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
  try {
    for (const part of [
      '++++\na',
      '----\na',
      'ifdef::x[]\na',
      'endif::x[]',
      'include::x[]',
      'xref:x[]',
      '{x}',
      '[[a]]\n[[a]]',
    ])
      for (const around of [
        part,
        `* a\n+\n${part}`,
        `> ${part}`,
        `|===\na|${part}\n|===`,
        `====\n${part}\n====`,
        `a:: ${part}`,
      ])
        await renderAsciidoc(around)
    expect(outputs.flatMap(({ mock }) => mock.calls)).toEqual([])
  } finally {
    for (const output of outputs) output.mockRestore()
  }
})
