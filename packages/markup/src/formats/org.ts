import reorgToRehype from '@orgajs/reorg-rehype'
import { toHtml } from 'hast-util-to-html'
import { getSettings, parse } from 'orga'
import { escapeHtml } from '../escape-html.ts'
import type { HtmlRoot } from '../html-tree.ts'
import { orgHandlers } from './org-handlers.ts'
import { orgSections } from './org-sections.ts'

/** A node of Org, as far as it is read here. */
interface OrgNode {
  readonly type: string
  readonly name?: string
  readonly params?: readonly string[]
  children?: OrgNode[]
}

const toTree = (reorgToRehype as unknown as (options: object) => (tree: OrgNode) => HtmlRoot)({ handlers: orgHandlers })

/**
 * Renders Org.
 *
 * The parser takes time in the square of the length and recurses for each word, so the text is parsed in sections. A section
 * that it refuses is shown as it is written.
 */
export function renderOrg(source: string): string {
  const settings = getSettings(source)
  return orgSections(source)
    .map((section) => {
      try {
        const tree = parse(section, { settings }) as unknown as OrgNode
        dropForeignExports(tree)
        return toHtml(toTree(tree))
      } catch {
        return `<pre>\n${escapeHtml(section)}</pre>`
      }
    })
    .join('\n')
}

/** Removes the blocks for other outputs than HTML. The library would let the author choose the type of their node. */
function dropForeignExports(node: OrgNode): void {
  if (node.children === undefined) return
  node.children = node.children.filter(
    ({ type, name, params }) =>
      type !== 'block' || name?.toLowerCase() !== 'export' || params?.[0]?.toLowerCase() === 'html',
  )
  node.children.forEach(dropForeignExports)
}
