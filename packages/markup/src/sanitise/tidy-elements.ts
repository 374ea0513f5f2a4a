import { forEachElement, type HtmlElement, type HtmlRoot } from '../html/html-tree.ts'
import { checkLink, type LinkBase } from './links.ts'
import { EXTERNAL_REL, EXTERNAL_TARGET } from './schema.ts'

/** The start of all ids in rendered text, so that none equals an id of the page around it. */
const ID_PREFIX = 'user-content-'
const MAX_ID_LENGTH = 200

/** Checks and resolves the addresses in a tree, marks links to other sites, and prefixes ids. */
export function tidyElements(root: HtmlRoot, base: LinkBase | undefined): void {
  const ids = new Set<string>()
  forEachElement(root, (each) => {
    tidyId(each)
    if (typeof each.properties.id === 'string') ids.add(each.properties.id)
    tidySource(each, base)
    tidyMedia(each)
  })
  forEachElement(root, (each) => tidyLink(each, base, ids))
}

function tidyId({ properties }: HtmlElement): void {
  const { id } = properties
  if (id === undefined) return
  const written = String(id).trim()
  if (written === '' || written.length > MAX_ID_LENGTH) delete properties.id
  else properties.id = prefixed(written)
}

const prefixed = (id: string) => (id.startsWith(ID_PREFIX) ? id : ID_PREFIX + id)

function tidySource({ properties }: HtmlElement, base: LinkBase | undefined): void {
  if (properties.src === undefined) return
  const link = checkLink(String(properties.src), base)
  if (link === undefined || link.href.startsWith('mailto:') || link.href.startsWith('#')) delete properties.src
  else properties.src = link.href
}

/** Sound and films start only when the reader starts them. */
function tidyMedia({ tagName, properties }: HtmlElement): void {
  if (tagName !== 'audio' && tagName !== 'video') return
  properties.controls = true
  properties.preload = 'none'
}

function tidyLink({ tagName, properties }: HtmlElement, base: LinkBase | undefined, ids: ReadonlySet<string>): void {
  if (tagName !== 'a') return
  delete properties.rel
  delete properties.target
  if (properties.href === undefined) return
  const link = checkLink(String(properties.href), base)
  if (link === undefined) {
    delete properties.href
    return
  }
  properties.href = link.href
  if (link.href.startsWith('#')) properties.href = fragmentFor(link.href, ids)
  if (!link.isExternal) return
  properties.rel = [...EXTERNAL_REL]
  properties.target = EXTERNAL_TARGET
}

/** Returns the fragment with the prefix if the text has such an id. */
function fragmentFor(href: string, ids: ReadonlySet<string>): string {
  let id = href.slice(1)
  try {
    id = decodeURIComponent(id)
  } catch {
    return href
  }
  return ids.has(prefixed(id)) ? `#${encodeURI(prefixed(id))}` : href
}
