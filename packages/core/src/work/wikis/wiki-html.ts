import { parentWebPath } from '../../base/model/parent.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { linksOfReferences } from '../markup/reference-links.ts'
import { renderMarkup } from '../markup/render-markup.ts'
import { withoutFrontMatter } from './front-matter.ts'
import type { WikiPageWithContent } from './wiki-page.ts'
import { wikiFormats } from './wiki-slug.ts'

/**
 * Returns the content of a page as sanitised HTML, without its front matter. References become links as far as the actor may
 * see their targets. A page in a format that is not one of the four is shown as it is.
 *
 * @throws DomainError like `renderMarkup`
 */
export function htmlOf(context: OperationContext, page: WikiPageWithContent): Promise<string> {
  const { core } = context
  const { slug, parent } = page
  const base = { url: `${core.settings.externalUrl}/${parentWebPath(parent)}/-/wikis`, page: slug }
  const resolve = (references: Parameters<typeof linksOfReferences>[2]) =>
    linksOfReferences(context, parent, references)
  // RDoc is shown as preformatted text.
  const format = wikiFormats.find((each) => each === page.format) ?? 'rdoc'
  return renderMarkup(core, { format, text: withoutFrontMatter(page.content), base, resolve })
}
