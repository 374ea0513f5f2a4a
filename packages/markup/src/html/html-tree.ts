import type { fromParse5 } from 'hast-util-from-parse5'

/** A parsed HTML document or fragment. */
export type HtmlRoot = Extract<ReturnType<typeof fromParse5>, { type: 'root' }>
/** A node below the root: an element, a text, a comment or a document type. */
export type HtmlNode = HtmlRoot['children'][number]
export type HtmlElement = Extract<HtmlNode, { type: 'element' }>
type HtmlText = Extract<HtmlNode, { type: 'text' }>

/** Returns an element. */
export function element(
  tagName: string,
  properties: HtmlElement['properties'] = {},
  children: HtmlElement['children'] = [],
): HtmlElement {
  return { type: 'element', tagName, properties, children }
}

export function text(value: string): HtmlText {
  return { type: 'text', value }
}

/** Returns the text of a node without its markup. */
export function toText(node: HtmlNode | HtmlRoot): string {
  if (node.type === 'text') return node.value
  return 'children' in node ? node.children.map(toText).join('') : ''
}

/** Calls `visit` for each element, parents before their children. */
export function forEachElement(root: HtmlRoot, visit: (element: HtmlElement, depth: number) => void): void {
  const stack: { node: HtmlRoot | HtmlElement; depth: number }[] = [{ node: root, depth: 0 }]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { node, depth } = at
    if (node.type === 'element') visit(node, depth)
    for (let index = node.children.length - 1; index >= 0; index -= 1) {
      const child = node.children[index]!
      if (child.type === 'element') stack.push({ node: child, depth: depth + 1 })
    }
  }
}
