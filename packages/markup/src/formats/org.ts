import reorgToRehype from '@orgajs/reorg-rehype'
import { toHtml } from 'hast-util-to-html'
import { getSettings, parse } from 'orga'
import { escapeHtml } from '../html/escape-html.ts'
import type { HtmlElement, HtmlRoot } from '../html/html-tree.ts'
import { type OrgNode, orgHandlers } from './org-handlers.ts'
import { orgSections } from './org-sections.ts'

/** The type of the library is that of a plugin of unified, which has no arguments of its own. */
type ToTree = (options: { handlers: object }) => (tree: OrgNode) => HtmlRoot

/** How deeply styles and quotes are read within each other; deeper ones stay text. */
const MAX_DEPTH = 10

const toTree = (reorgToRehype as ToTree)({ handlers: orgHandlers(renderInner) })
/** How deep the text is that is being rendered: `renderInner` is called within the rendering of an outer text. */
let depth = 0

/**
 * Renders Org.
 *
 * The parser takes time in the square of the length and recurses for each word, so the text is parsed in sections. A section
 * that it refuses is shown as it is written.
 */
export function renderOrg(source: string): string {
  const settings = getSettings(source)
  const title = [settings.title ?? []].flat().join(' ')
  const heading = title === '' ? '' : `<h1 class="title">${escapeHtml(title)}</h1>\n`
  const sections = orgSections(source).map((section) => {
    try {
      return toHtml({ type: 'root', children: nodesOf(section, settings) })
    } catch {
      depth = 0
      return `<pre>\n${escapeHtml(section)}</pre>`
    }
  })
  return heading + sections.join('\n')
}

function nodesOf(source: string, settings: ReturnType<typeof getSettings>): HtmlRoot['children'] {
  // The library declares a type for each kind of node; the handlers read members that several kinds have.
  const tree = parse(source, { settings }) as OrgNode
  prepareBlocks(tree)
  return toTree(tree).children
}

function renderInner(source: string): HtmlElement['children'] {
  if (depth >= MAX_DEPTH) return [{ type: 'text', value: source }]
  depth += 1
  const nodes = nodesOf(source, {})
  depth -= 1
  return nodes as HtmlElement['children']
}

/**
 * Names quotes and centred blocks as their handlers, and removes the blocks for other outputs than HTML. The library would
 * let the author choose the type of their node.
 */
function prepareBlocks(node: OrgNode): void {
  if (node.children === undefined) return
  node.children = node.children.flatMap((child): OrgNode[] => {
    prepareBlocks(child)
    const name = child.type === 'block' ? child.name?.toLowerCase() : undefined
    if (name === 'quote' || name === 'center') return [{ type: name, value: child.value ?? '' }]
    if (name === 'export' && child.params?.[0]?.toLowerCase() !== 'html') return []
    return [child]
  })
}
