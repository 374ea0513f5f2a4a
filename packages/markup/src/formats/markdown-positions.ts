import type { MarkdownIt, Token } from 'markdown-it'

/** The start of a line that belongs to a quote, and that of a list item. */
const QUOTE = /^\s{0,3}>[ \t]?/
const ITEM = /^\s*(?:[-+*]|\d{1,9}[.)])(?=\s|$)/

/** A block that other blocks are in, and the line that it begins on. */
interface Container {
  readonly type: 'blockquote' | 'list_item'
  readonly line: number
}

/** Writes the position of each block in the source as `data-sourcepos`: first line, column, last line, column, from 1. */
export function addSourcePositions(parser: MarkdownIt): void {
  parser.core.ruler.push('source_positions', ({ tokens, src }) => {
    const lines = src.split('\n')
    const containers: Container[] = []
    for (const token of tokens) {
      if (token.nesting < 0 && containerType(token) !== undefined) containers.pop()
      if (token.map === null || token.nesting < 0 || token.type === 'inline' || token.type === 'html_block') continue
      const [first, end] = token.map
      let last = Math.max(end, first + 1)
      while (last > first + 1 && isBlank(lines[last - 1], containers)) last -= 1
      const column = columnOf(lines[first] ?? '', first, containers)
      token.attrSet('data-sourcepos', `${first + 1}:${column}-${last}:${lines[last - 1]?.length ?? 0}`)
      const type = containerType(token)
      if (type !== undefined) containers.push({ type, line: first })
    }
  })
  // The position belongs to the block, and the renderer would write it on the element for the code in it.
  for (const name of ['fence', 'code_block'] as const) {
    const render = parser.renderer.rules[name]!
    parser.renderer.rules[name] = (tokens, index, ...rest) => {
      const position = tokens[index]!.attrGet('data-sourcepos')
      tokens[index]!.attrs = tokens[index]!.attrs!.filter(([attribute]) => attribute !== 'data-sourcepos')
      return render(tokens, index, ...rest).replace('<pre>', `<pre data-sourcepos="${position}">`)
    }
  }
}

function containerType({ type }: Token): Container['type'] | undefined {
  if (/^blockquote_/.test(type)) return 'blockquote'
  return /^list_item_/.test(type) ? 'list_item' : undefined
}

/** Returns the column of the first character after the marks of the containers. */
function columnOf(line: string, number: number, containers: readonly Container[]): number {
  let rest = line
  for (const container of containers) {
    if (container.type === 'blockquote') rest = rest.replace(QUOTE, '')
    else if (container.line === number) rest = rest.replace(ITEM, '')
  }
  return line.length - rest.trimStart().length + 1
}

/** Whether a line has only marks of quotes. */
function isBlank(line: string | undefined, containers: readonly Container[]): boolean {
  let rest = line ?? ''
  for (const { type } of containers) if (type === 'blockquote') rest = rest.replace(QUOTE, '')
  return rest.trim() === ''
}
