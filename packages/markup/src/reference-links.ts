import { escapeHtml } from './html/escape-html.ts'
import type { Reference, ReferenceLink } from './references.ts'
import { checkLink } from './sanitise/links.ts'

/** Returns the HTML of a reference: a link, or its text if there is no link or its address is not allowed. */
export function referenceHtml(reference: Reference, link: ReferenceLink | undefined): string {
  const checked = link && checkLink(link.href, { url: '/' })
  if (link === undefined || checked === undefined) return escapeHtml(reference.text)
  const kind = reference.kind === 'user' ? 'project_member' : reference.kind
  const title = link.title === undefined ? '' : ` title="${escapeHtml(link.title)}"`
  const text = escapeHtml(link.text ?? reference.text)
  return `<a href="${escapeHtml(checked.href)}" class="gfm gfm-${kind}"${title}>${text}</a>`
}
