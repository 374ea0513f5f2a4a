import { performance } from 'node:perf_hooks'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { MarkupFormat } from './formats/format-names.ts'
import { MarkupError, type MarkupLimits, MarkupRenderer } from './index.ts'

vi.setConfig({ testTimeout: 120_000 })

const MAX_TASK_MS = 1_000
const open: MarkupRenderer[] = []
const start = (limits: Partial<MarkupLimits>): MarkupRenderer => {
  const renderer = MarkupRenderer.start({ threads: 1, ...limits })
  open.push(renderer)
  return renderer
}
afterAll(() => Promise.all(open.map((each) => each.close())))

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')
const cells = (count: number) => `|${'a|'.repeat(count)}\n`

/** Texts that make parsers nest, search back, or repeat their work. */
const slowTexts: readonly (readonly [format: MarkupFormat, name: string, text: string])[] = [
  ['markdown', 'brackets', '['.repeat(50_000)],
  ['markdown', 'open links', '[a]('.repeat(20_000)],
  ['markdown', 'open images', '!['.repeat(30_000)],
  ['markdown', 'emphasis', '*a **a '.repeat(30_000)],
  ['markdown', 'underscores', `${'_'.repeat(50_000)}a`],
  ['markdown', 'quotes', '>'.repeat(50_000)],
  ['markdown', 'nested lists', lines(1_000, (at) => `${'  '.repeat(at)}- a`)],
  ['markdown', 'backticks', lines(2_000, (at) => '`'.repeat(at + 1))],
  ['markdown', 'nested elements', '<div>'.repeat(50_000)],
  ['markdown', 'open fonts in paragraphs', `${lines(3_000, (at) => `<font a=${at}>`)}${'<p>x'.repeat(3_000)}`],
  ['markdown', 'angle brackets', '<'.repeat(50_000)],
  ['markdown', 'addresses', 'http://a.'.repeat(20_000)],
  ['markdown', 'a table of 200,000 cells', cells(1_000) + cells(1_000).replaceAll('a', '-') + cells(1_000).repeat(200)],
  ['markdown', 'footnotes', `[^a]: b\n\n${'[^a]'.repeat(30_000)}`],
  ['markdown', 'open footnotes', '^['.repeat(20_000)],
  ['markdown', 'comments', '<!--'.repeat(30_000)],
  ['markdown', 'paths before references', `${'aaaa/'.repeat(50_000)} ${'#1'.repeat(20_000)}`],
  ['asciidoc', 'emphasis', '*a '.repeat(20_000)],
  [
    'asciidoc',
    'attributes in attributes',
    `:a0: ${'x'.repeat(30)}\n${lines(20, (at) => `:a${at + 1}: ${`{a${at}}`.repeat(10)}`)}\n\n${'{a20}'.repeat(1_000)}`,
  ],
  ['asciidoc', 'cells', `|===\n${'|a '.repeat(30_000)}\n|===`],
  ['asciidoc', 'nested blocks', lines(200, (at) => '='.repeat(4 + at))],
  ['asciidoc', 'lists', lines(3_000, (at) => `${'*'.repeat((at % 50) + 1)} a`)],
  ['asciidoc', 'macros', 'link:a['.repeat(10_000)],
  ['asciidoc', 'footnotes', 'footnote:['.repeat(10_000)],
  ['org', 'brackets', '['.repeat(20_000)],
  ['org', 'emphasis', '*a '.repeat(20_000)],
  ['org', 'a long list', '- a\n'.repeat(20_000)],
  ['org', 'a long table', '| a | b |\n'.repeat(10_000)],
  ['org', 'headlines', '* a\n'.repeat(20_000)],
  ['org', 'a long line', 'word *bold* text '.repeat(5_000)],
  ['rdoc', 'references', '#1 <b>'.repeat(100_000)],
]

describe('a hostile text ends in time, and does not block the event loop', () => {
  const renderer = start({ maxTaskMs: MAX_TASK_MS })

  test.each(slowTexts)('%s: %s', async (format, _name, text) => {
    await renderer.render({ format, text: 'a' }).catch(() => undefined)
    const before = performance.eventLoopUtilization()
    const startMs = performance.now()
    const outcome = await renderer.render({ format, text, resolve: async (all) => all.map(() => undefined) }).then(
      () => 'rendered',
      (error: unknown) => (error instanceof MarkupError ? error.reason : error),
    )
    const elapsedMs = performance.now() - startMs
    const { active } = performance.eventLoopUtilization(before)
    expect(outcome).toBeOneOf(['rendered', 'too_slow', 'too_deep', 'too_many_elements', 'html_too_long'])
    // The remaining time is that of a busy machine.
    expect(elapsedMs).toBeLessThan(MAX_TASK_MS + 5_000)
    expect(active).toBeLessThan(Math.max(300, elapsedMs / 4))
  })
})

describe('a limit is an error that names it, and the next text is rendered', () => {
  const table = cells(1_000) + cells(1_000).replaceAll('a', '-') + cells(1_000).repeat(300)
  const reasonOf = (promise: Promise<string>) =>
    promise.then(
      () => 'rendered',
      (error: unknown) => (error instanceof MarkupError ? error.reason : error),
    )

  test.each<[Partial<MarkupLimits>, string, string]>([
    [{ maxTextBytes: 3 }, 'ää', 'text_too_long'],
    [{ maxHtmlBytes: 100 }, 'a\n\n'.repeat(20), 'html_too_long'],
    [{ maxDepth: 5 }, '<b>'.repeat(6), 'too_deep'],
    [{ maxElements: 3 }, 'a\n\n'.repeat(4), 'too_many_elements'],
    [{ maxTaskMs: 300 }, table, 'too_slow'],
    [{ maxHeapMegabytes: 48, maxTaskMs: 60_000, maxElements: 9_999_999 }, table, 'too_much_memory'],
  ])('%j', async (limits, text, reason) => {
    const renderer = start(limits)
    expect(await reasonOf(renderer.render({ format: 'markdown', text }))).toBe(reason)
    expect(await reasonOf(renderer.render({ format: 'rdoc', text: 'a' }))).toBe('rendered')
  })

  test('too many waiting texts', async () => {
    const renderer = start({ maxWaiting: 1 })
    const results = await Promise.all([1, 2, 3].map(() => reasonOf(renderer.render({ format: 'rdoc', text: 'a' }))))
    expect(results).toEqual(['rendered', 'rendered', 'busy'])
  })

  test('more references than are looked up stay text', async () => {
    const renderer = start({ maxReferences: 2 })
    const resolve = async (all: readonly unknown[]) => all.map(() => ({ href: '/x' }))
    const html = await renderer.render({ format: 'markdown', text: '#1 #2 #3 #1', resolve })
    expect(html.match(/<a /g)).toHaveLength(3)
    expect(html).toContain(' #3 ')
  })

  test('a long file is only escaped', async () => {
    const renderer = start({ maxHighlightedBytes: 10 })
    expect(await renderer.highlight({ text: 'puts "abcdef"', fileName: 'a.rb' })).toBe(
      '<span id="LC1" class="line" lang="ruby">puts &quot;abcdef&quot;</span>',
    )
  })
})
