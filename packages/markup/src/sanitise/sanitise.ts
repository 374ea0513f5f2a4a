import { fromParse5 } from 'hast-util-from-parse5'
import { sanitize } from 'hast-util-sanitize'
import { toHtml } from 'hast-util-to-html'
import { defaultTreeAdapter, html as names, parseFragment } from 'parse5'
import { forEachElement, type HtmlElement, type HtmlRoot } from '../html/html-tree.ts'
import type { MarkupLimits } from './limits.ts'
import type { LinkBase } from './links.ts'
import { MarkupError } from './markup-error.ts'
import { schema } from './schema.ts'
import { tidyElements } from './tidy-elements.ts'

/** How often the HTML may change when it is read again. Text for people is stable after the first time. */
const MAX_ROUNDS = 8

type TreeLimits = Pick<MarkupLimits, 'maxDepth' | 'maxElements'>

interface SanitiseOptions {
  readonly base?: LinkBase | undefined
  readonly limits: TreeLimits
}

/** A sanitised tree and its HTML. */
interface Sanitised {
  readonly html: string
  readonly tree: HtmlRoot
}

/**
 * Sanitises a tree of `parseHtml`: keeps what `schema` allows, and writes it as HTML.
 *
 * The result is read and sanitised again until it no longer changes, so that a browser reads exactly the tree that was
 * checked. Some trees cannot be written in HTML, such as a link within a link.
 *
 * @throws MarkupError `too_deep`, `too_many_elements`; `failed` if the HTML does not become stable
 */
export function sanitise(source: HtmlRoot, options: SanitiseOptions): Sanitised {
  let last = clean(source, options)
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const again = clean(parseHtml(last.html), options)
    if (again.html === last.html) return again
    last = again
  }
  throw new MarkupError('failed')
}

/** The element that the HTML is the content of: it decides how a parser reads, for example, a row without a table. */
const content = defaultTreeAdapter.createElement('div', names.NS.HTML, [])

/** Parses HTML as the content of an element of the page. */
export function parseHtml(html: string): HtmlRoot {
  try {
    const fragment = parseFragment(content, html, {})
    return fromParse5(fragment) as HtmlRoot
  } catch (error) {
    // The parser recurses for each level.
    if (error instanceof RangeError) throw new MarkupError('too_deep')
    throw error
  }
}

/** Writes a sanitised tree as HTML. */
export function writeHtml(tree: HtmlRoot): string {
  return toHtml(tree, { characterReferences: { useNamedReferences: true } })
}

function clean(tree: HtmlRoot, { base, limits }: SanitiseOptions): Sanitised {
  requireTreeWithin(tree, limits)
  tidyElements(tree, base)
  const sanitised = sanitize(tree, schema) as HtmlRoot
  forEachElement(sanitised, dropEmptyClass)
  forEachElement(sanitised, keepFirstLineBreak)
  return { html: writeHtml(sanitised), tree: sanitised }
}

function requireTreeWithin(tree: HtmlRoot, { maxDepth, maxElements }: TreeLimits): void {
  let count = 0
  forEachElement(tree, (_, depth) => {
    count += 1
    if (depth > maxDepth) throw new MarkupError('too_deep')
    if (count > maxElements) throw new MarkupError('too_many_elements')
  })
}

function dropEmptyClass({ properties }: HtmlElement): void {
  if (Array.isArray(properties.className) && properties.className.length === 0) delete properties.className
}

/** A parser drops the line break after `<pre>`, so a text that begins with a line break needs another one. */
function keepFirstLineBreak({ tagName, children: [first] }: HtmlElement): void {
  if (tagName === 'pre' && first?.type === 'text' && first.value.startsWith('\n')) first.value = `\n${first.value}`
}
