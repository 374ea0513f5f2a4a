import fc from 'fast-check'
import { parseFragment } from 'parse5'
import { afterAll, describe, expect, test } from 'vitest'
import { markupFormats } from './formats/format-names.ts'
import { hostileTexts } from './hostile-markup.harness.ts'
import { MarkupRenderer } from './index.ts'

const renderer = MarkupRenderer.start({ threads: 1 })
afterAll(() => renderer.close())

const MIXTURES = Number(process.env.PENSTOCK_TEST_MIXTURES ?? 100)

/** The elements that a reader of this test considers harmless, written down apart from the schema. */
const harmless = new Set(
  (
    'a abbr audio b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption ' +
    'figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong ' +
    'sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr'
  ).split(' '),
)
const attributes =
  /^(?:align|alt|aria-hidden|aria-label|checked|class|colspan|controls|data-sourcepos|datetime|dir|disabled|height|href|id|lang|open|preload|rel|reversed|rowspan|scope|span|src|start|target|title|type|valign|value|width)$/

interface ParsedNode {
  readonly nodeName: string
  readonly attrs?: readonly { readonly name: string; readonly value: string }[]
  readonly childNodes?: readonly ParsedNode[]
}

/** Returns what in the HTML could run, load, or touch the page around it. */
function dangers(html: string): string[] {
  const found: string[] = []
  const visit = ({ nodeName, attrs = [], childNodes = [] }: ParsedNode) => {
    if (nodeName !== '#text' && !harmless.has(nodeName)) found.push(`<${nodeName}>`)
    for (const { name, value } of attrs) if (!isHarmless(nodeName, name, value)) found.push(`${name}="${value}"`)
    childNodes.forEach(visit)
  }
  ;(parseFragment(html) as ParsedNode).childNodes!.forEach(visit)
  return found
}

function isHarmless(element: string, name: string, value: string): boolean {
  if (!attributes.test(name)) return false
  if (name === 'id') return value.startsWith('user-content-')
  if (name === 'type') return element === 'ol' || value === 'checkbox'
  if (name === 'class') return !/modal|fixed|absolute/.test(value)
  if (name === 'src' || name === 'href')
    return /^(?:https?|mailto):$/.test(new URL(value, 'https://page.test/').protocol)
  return true
}

describe.each(markupFormats)('%s', (format) => {
  const texts = hostileTexts(format)

  test('has at least 60 hostile texts', () => expect(new Set(texts).size).toBeGreaterThanOrEqual(60))

  const render = (text: string) =>
    renderer.render({ format, text, resolve: async (all) => all.map(() => ({ href: '/x' })) })

  test('nothing in a hostile text runs, loads or touches the page', async () => {
    const results: string[] = []
    for (const text of texts) {
      const html = await render(text)
      const found = dangers(html)
      if (found.length > 0) results.push(`${text} → ${html} (${found.join(', ')})`)
    }
    expect(results).toEqual([])
  })

  test(`nothing in ${MIXTURES} mixtures of hostile texts does`, { timeout: 60_000 + MIXTURES * 50 }, async () => {
    const part = fc
      .tuple(fc.constantFrom(...texts), fc.nat(), fc.nat())
      .map(([text, from, length]) => text.slice(from % text.length).slice(0, 1 + (length % text.length)))
    const joint = fc.constantFrom(
      '',
      ' ',
      '\n',
      '\n\n',
      '"',
      "'",
      '<',
      '>',
      '`',
      '[',
      '](',
      '|',
      '\n- ',
      '\n> ',
      '\u0000',
    )
    const mixture = fc
      .array(fc.tuple(part, joint), { minLength: 2, maxLength: 6 })
      .map((parts) => parts.flat().join(''))
    await fc.assert(
      fc.asyncProperty(mixture, async (text) => {
        expect(dangers(await render(text))).toEqual([])
      }),
      { numRuns: MIXTURES },
    )
  })
})
