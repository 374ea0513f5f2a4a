import { element, type HtmlElement, text } from '../html-tree.ts'

/** A node of Org, as far as the handlers here read it. */
interface OrgNode {
  readonly path: { readonly protocol?: string; readonly value: string }
}

/** Returns the HTML of a node. */
type Handler = (state: { all(node: OrgNode): HtmlElement['children'] }, node: OrgNode) => HtmlElement

const IMAGE = /\.(?:png|jpe?g|gif|svg|webp|avif|bmp)$/i

/** Renders a link with its text, or with its address if it has none; a link to an image without text is the image. */
const link: Handler = (state, node) => {
  const { protocol, value } = node.path
  const isAddress = protocol === undefined || ['internal', 'file', 'http', 'https'].includes(protocol)
  const href = isAddress ? value.replace(/^file:/, '') : `${protocol}:${value}`
  const children = state.all(node)
  if (children.length === 0 && IMAGE.test(href)) return element('img', { src: href })
  return element('a', { href }, children.length === 0 ? [text(href)] : children)
}

/** Renders nodes of which the library loses something. */
export const orgHandlers: Readonly<Record<string, Handler>> = { link }
