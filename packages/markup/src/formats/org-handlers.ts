import { element, type HtmlElement, type HtmlNode, text } from '../html/html-tree.ts'

/** A node of Org, as far as it is read here. Each kind of node has some of the fields. */
export interface OrgNode {
  readonly type: string
  children?: OrgNode[]
  readonly value?: string
  readonly style?: string
  readonly ordered?: boolean
  readonly name?: string
  readonly params?: readonly string[]
  readonly keyword?: string
  readonly level?: number
  readonly actionable?: boolean
  readonly tags?: readonly string[]
  readonly path?: { readonly protocol?: string; readonly value: string }
}

/** The part of the library's state that handlers use. */
interface State {
  readonly handlers: Readonly<Record<string, Handler>>
  all(node: OrgNode): HtmlElement['children']
  one(node: OrgNode, parent?: OrgNode): HtmlNode | HtmlNode[] | undefined
}

type Result = HtmlNode | HtmlNode[] | undefined
/** Returns the HTML of a node. */
type Handler = (state: State, node: OrgNode, parent?: OrgNode) => Result
/** Returns the HTML of a text of its own, such as the content of a quote. */
type RenderInner = (source: string) => HtmlElement['children']

const IMAGE = /\.(?:png|jpe?g|gif|svg|webp|avif|bmp)$/i
const ADDRESS = /https?:\/\/[^\s<>"[\]]*[^\s<>"[\].,:;!?'()]/g
const tagOfStyle: Readonly<Record<string, string>> = {
  bold: 'strong',
  italic: 'em',
  underline: 'u',
  strikeThrough: 'del',
  code: 'code',
  verbatim: 'code',
}
/** The styles in which other styles may be. */
const nesting = new Set(['bold', 'italic', 'underline', 'strikeThrough'])

/** Returns the HTML of nodes of which the library loses something: addresses, inner styles, keywords, nested lists. */
export function orgHandlers(renderInner: RenderInner): Readonly<Record<string, Handler>> {
  return {
    link: ({ all }, node) => linkElement(node, all(node)),
    text: (_, node) => styledText(node, renderInner),
    headline: ({ all }, node) => element(`h${Math.min(node.level ?? 1, 6)}`, {}, all(node)),
    todo: (_, { keyword = '', actionable }) => [
      element('span', { className: [actionable === false ? 'done' : 'todo'] }, [text(keyword)]),
      text(' '),
    ],
    tags: (_, { tags = [] }) => tags.map((tag) => element('span', { className: ['tag'] }, [text(` ${tag}`)])),
    list: (state, node) => listElement(state, node),
    quote: (_, { value = '' }) => element('blockquote', {}, renderInner(value)),
    center: (_, { value = '' }) => element('center', {}, renderInner(value)),
  }
}

/** A link with its text, or with its address if it has none; a link to an image without text is the image. */
function linkElement({ path }: OrgNode, children: HtmlElement['children']): HtmlElement {
  const { protocol, value } = path!
  const isAddress = protocol === undefined || ['internal', 'file', 'http', 'https'].includes(protocol)
  const href = isAddress ? value.replace(/^file:/, '') : `${protocol}:${value}`
  if (children.length === 0 && IMAGE.test(href)) return element('img', { src: href })
  return element('a', { href }, children.length === 0 ? [text(href)] : children)
}

function styledText({ style, value = '' }: OrgNode, renderInner: RenderInner): Result {
  if (style === undefined) return plainText(value)
  if (style === 'math') return element('span', { className: ['math-inline'] }, [text(value)])
  const isPlain = !nesting.has(style) || !/[*/_+=~[]/.test(value)
  return element(tagOfStyle[style]!, {}, isPlain ? [text(value)] : inline(renderInner(value)))
}

/** Returns the content of the only paragraph of a text. */
function inline(nodes: HtmlElement['children']): HtmlElement['children'] {
  return nodes.flatMap((node) => (node.type === 'element' && node.tagName === 'p' ? node.children : [node]))
}

/** Makes links of the addresses in a text, and a line break of `\\` at its end. */
function plainText(value: string): HtmlNode[] {
  const isBroken = value.endsWith('\\\\')
  const written = isBroken ? value.slice(0, -2) : value
  const nodes: HtmlNode[] = []
  let end = 0
  for (const { 0: href, index } of written.matchAll(ADDRESS)) {
    nodes.push(text(written.slice(end, index)), element('a', { href }, [text(href)]))
    end = index + href.length
  }
  nodes.push(text(written.slice(end)))
  return isBroken ? [...nodes, element('br')] : nodes
}

/** A list with its nested lists inside the items before them. */
function listElement(state: State, node: OrgNode): HtmlElement {
  const items = node.children ?? []
  const isDefinitions = items.every((each) => each.type !== 'list.item' || 'tag' in each)
  const children: HtmlElement['children'] = []
  for (const item of items) {
    const result = state.one(item, node)
    const rendered = (Array.isArray(result) ? result : [result]).filter((each) => each !== undefined)
    const last = children.at(-1)
    if (item.type === 'list' && last?.type === 'element') last.children.push(...(rendered as HtmlElement[]))
    else children.push(...(rendered as HtmlElement[]))
  }
  return element(isDefinitions ? 'dl' : node.ordered === true ? 'ol' : 'ul', {}, children)
}
