/// <reference path="./markdown-it-footnote.d.ts" />
import MarkdownParser, { type MarkdownIt } from 'markdown-it'
import footnotes from 'markdown-it-footnote'
import { addSourcePositions } from './markdown-positions.ts'
import { addTaskLists } from './markdown-task-lists.ts'

const markdown = new MarkdownParser({ html: true, linkify: true })
  .use(footnotes)
  .use(addTaskLists)
  .use(addSourcePositions)
  .use(alignCellsByAttribute)
// A name such as `config.md` is not a link, but an address that begins with `www.` is.
markdown.linkify.set({ fuzzyLink: false })
markdown.linkify.add('www.', {
  validate: (text, at) =>
    /^[\w-]+(?:\.[\w-]+)+(?:[/?#][^\s<>"]*[^\s<>"?!.,:*_~'();])?/i.exec(text.slice(at))?.[0].length ?? 0,
  normalize: (match) => {
    match.url = `http://${match.url}`
  },
})

/** Renders Markdown with GitHub's extensions, footnotes and the positions of blocks in the source. */
export function renderMarkdown(text: string): string {
  return markdown.render(text)
}

/** Aligns the cells of tables by the attribute `align`, because no `style` passes the sanitiser. */
function alignCellsByAttribute(parser: MarkdownIt): void {
  parser.core.ruler.push('align_cells', ({ tokens }) => {
    for (const token of tokens) {
      if (token.type !== 'th_open' && token.type !== 'td_open') continue
      const align = /^text-align:(\w+)$/.exec(String(token.attrGet('style')))?.[1]
      if (align !== undefined) token.attrs = [['align', align]]
    }
  })
}
