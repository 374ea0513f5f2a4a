import reorgToRehype from '@orgajs/reorg-rehype'
import { getSettings, parse } from 'orga'
import { element, type HtmlRoot, text } from '../html-tree.ts'
import { orgHandlers } from './org-handlers.ts'
import { orgSections } from './org-sections.ts'

type Transform = (tree: ReturnType<typeof parse>) => HtmlRoot

/**
 * Renders Org.
 *
 * The parser takes time in the square of the length and recurses for each word, so the text is parsed in sections. A section
 * that it refuses is shown as it is written.
 */
export function renderOrg(source: string): HtmlRoot {
  const settings = getSettings(source)
  const toHtml = (reorgToRehype as unknown as (options: object) => Transform)({ handlers: orgHandlers })
  const children: HtmlRoot['children'] = []
  for (const section of orgSections(source)) {
    try {
      const { children: rendered } = toHtml(parse(section, { settings }))
      for (const each of rendered) children.push(each)
    } catch {
      children.push(element('pre', {}, [text(section)]))
    }
  }
  return { type: 'root', children }
}
