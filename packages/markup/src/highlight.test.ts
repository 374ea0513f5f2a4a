import { expect, test } from 'vitest'
import { highlightFile } from './highlight.ts'

const LONG = 1_000_000
const lang = (fileName: string) => /lang="([^"]*)"/.exec(highlightFile('a', fileName, LONG))?.[1]

test.each([
  ['run.rb', 'ruby'],
  ['a/b.PY', 'python'],
  ['Dockerfile', 'dockerfile'],
  ['a.c++', 'c++'],
  ['a.cs', 'c#'],
  ['page.html', 'html'],
  ['notes', 'plaintext'],
  ['a.constructor', 'plaintext'],
  ['a."><script>', 'plaintext'],
  ['', 'plaintext'],
])('%j is %s', (fileName, language) => expect(lang(fileName)).toBe(language))

test('a span that continues on the next line is closed and opened again', () => {
  expect(highlightFile('/* a\nb */ c', 'a.js', LONG)).toBe(
    '<span id="LC1" class="line" lang="javascript"><span class="hljs-comment">/* a</span></span>\n' +
      '<span id="LC2" class="line" lang="javascript"><span class="hljs-comment">b */</span> c</span>',
  )
})

test.each(['a.txt', 'a.html', 'a.md', 'a.js'])('no text of %s becomes an element', (fileName) => {
  const html = highlightFile('<script>alert("1")</script>\n<img src=x onerror=\'alert(1)\'>', fileName, LONG)
  expect(html.replaceAll(/<\/?span(?: (?:id|class|lang)="[\w .#+-]*")*>/g, '')).not.toContain('<')
})

test('an empty file is one empty line', () => {
  expect(highlightFile('', 'a.rb', LONG)).toBe('<span id="LC1" class="line" lang="ruby"></span>')
})
