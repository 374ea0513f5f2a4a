import { element, forEachElement, type HtmlElement, type HtmlRoot, toText } from './html/html-tree.ts'

/** The elements at the top of a text that get the direction of their own text. */
const directed = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'blockquote', 'table'])
const MAX_SLUG_LENGTH = 100

/** Gives each heading without id a link to itself: `Set up: Linux` → `#set-up-linux`, a second one `#set-up-linux-1`. */
export function addHeadingLinks(root: HtmlRoot): void {
  const counts = new Map<string, number>()
  forEachElement(root, (heading) => {
    if (!/^h[1-6]$/.test(heading.tagName) || heading.properties.id !== undefined) return
    const slug = slugOf(toText(heading))
    if (slug === '') return
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    const id = count === 0 ? slug : `${slug}-${count}`
    heading.children.unshift(anchorOf(id))
  })
}

function anchorOf(id: string): HtmlElement {
  return element('a', { id, className: ['anchor'], href: `#${encodeURIComponent(id)}`, ariaHidden: 'true' })
}

function slugOf(heading: string): string {
  const words = heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
  return words.replaceAll(/[ -]+/g, '-').slice(0, MAX_SLUG_LENGTH)
}

/** Lets the browser choose the direction of each block at the top from its text. */
export function addDirections(root: HtmlRoot): void {
  for (const child of root.children) {
    if (child.type === 'element' && directed.has(child.tagName)) child.properties.dir = 'auto'
  }
}
