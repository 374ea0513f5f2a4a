import { describe, expect, it } from 'vitest'
import { frontMatterOf, withFrontMatterTitle, withoutFrontMatter } from './front-matter.ts'
import { withRedirects } from './wiki-redirects.ts'

describe('front matter', () => {
  it('is read, changed and left out', () => {
    const page = '---\ntitle: One\ntags: [a, b]\n---\nBody'
    expect(frontMatterOf(page)).toEqual({ title: 'One', tags: ['a', 'b'] })
    expect(withoutFrontMatter(page)).toBe('Body')
    expect(withFrontMatterTitle(page, 'Two')).toBe('---\ntitle: Two\ntags:\n  - a\n  - b\n---\nBody')
    expect(withoutFrontMatter('---\n---\nBody')).toBe('Body')
  })

  it.each([
    ['text', 'Hello'],
    ['invalid YAML', 'Intro: [not closed\nimportant'],
    ['an alias', 'a: &x 1\nb: *x'],
    ['a list', '- a'],
  ])('between lines of hyphens is content if it is %s', (_, text) => {
    const page = `---\n${text}\n---\nBody`
    expect(frontMatterOf(page)).toEqual({})
    expect(withoutFrontMatter(page)).toBe(page)
    expect(withFrontMatterTitle(page, 'T')).toBe(`---\ntitle: T\n---\n${page}`)
  })

  it.each([
    ['? '.repeat(2_000)],
    ['- '.repeat(2_000)],
    ['['.repeat(4_000)],
    ['{a: '.repeat(1_000)],
    ['a: - '.repeat(1_000)],
    ['!a '.repeat(2_000)],
    [`{${'a,'.repeat(2_000)}}`],
  ])('of a hostile text is content, and takes no time: %.9s…', (yaml) => {
    const before = process.cpuUsage()
    expect(frontMatterOf(`---\n${yaml}\n---\nBody`)).toEqual({})
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000)
  })
})

describe('redirects', () => {
  it('are limited to the newest ones, because each move writes all of them', () => {
    let text: string | undefined
    for (let move = 0; move < 2_100; move += 100)
      text = withRedirects(
        text,
        new Map(Array.from({ length: 100 }, (_, index) => [`a${move + index}`, `b${move + index}`])),
      )
    const lines = text!.trimEnd().split('\n')
    expect([lines.length, lines[1], lines.at(-1)]).toEqual([2_001, '"a100": "b100"', '"a2099": "b2099"'])
  })

  it('keep the entries of other programs', () => {
    const text = `---\n"a b": "c\\"d"\n'it''s': x y\nplain/p: a\n# no entry\n- neither\n`
    expect(withRedirects(text, new Map([['a', 'z']]))).toBe(
      `---\n"a b": "c\\"d"\n"it's": "x y"\n"plain/p": "z"\n"a": "z"\n`,
    )
  })

  it.each([
    ['? '.repeat(50_000)],
    ['['.repeat(50_000)],
    [Array.from({ length: 10_000 }, (_, i) => `k${i}: v`).join('\n')],
  ])('take little time for large files: %.9s…', (text) => {
    const before = process.cpuUsage()
    expect(withRedirects(text, new Map([['a', 'b']]))).toContain('"a": "b"')
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000)
  })
})
