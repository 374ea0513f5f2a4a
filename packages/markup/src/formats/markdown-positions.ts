import type { MarkdownIt } from 'markdown-it'

/** Writes the position of each block in the source as `data-sourcepos`: first line, column, last line, column, from 1. */
export function addSourcePositions(parser: MarkdownIt): void {
  parser.core.ruler.push('source_positions', ({ tokens, src }) => {
    const lines = src.split('\n')
    for (const token of tokens) {
      if (token.map === null || token.nesting < 0 || token.type === 'inline' || token.type === 'html_block') continue
      const [first, end] = token.map
      let last = Math.max(end, first + 1)
      while (last > first + 1 && lines[last - 1]?.trim() === '') last -= 1
      const column = (lines[first]?.search(/\S/) ?? 0) + 1
      const lastColumn = lines[last - 1]?.length ?? 0
      token.attrSet('data-sourcepos', `${first + 1}:${Math.max(column, 1)}-${last}:${lastColumn}`)
    }
  })
}
