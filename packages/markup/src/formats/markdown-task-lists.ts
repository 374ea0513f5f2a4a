import type { MarkdownIt } from 'markdown-it'

/** The text at the start of a task, such as `[x] `. */
const MARK = /^\[([ xX])\][ \u00a0\t]/

/** Shows list items that begin with `[ ]` or `[x]` as checkboxes that cannot be changed. */
export function addTaskLists(parser: MarkdownIt): void {
  parser.core.ruler.after('inline', 'task_lists', ({ tokens, Token }) => {
    const lists: number[] = []
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open') lists.push(at)
      if (token.type === 'bullet_list_close' || token.type === 'ordered_list_close') lists.pop()
      if (token.type !== 'inline' || tokens[at - 1]?.type !== 'paragraph_open') continue
      const item = tokens[at - 2]
      const first = token.children?.[0]
      const mark = first?.type === 'text' ? MARK.exec(first.content) : null
      if (item?.type !== 'list_item_open' || first === undefined || mark === null) continue
      item.attrJoin('class', 'task-list-item')
      const list = tokens[lists.at(-1)!]!
      if (list.attrGet('class') === null) list.attrJoin('class', 'task-list')
      first.content = first.content.slice(mark[0].length)
      const checkbox = new Token('html_inline', '', 0)
      const checked = mark[1] === ' ' ? '' : ' checked'
      checkbox.content = `<input type="checkbox" class="task-list-item-checkbox" disabled${checked}> `
      token.children!.unshift(checkbox)
    }
  })
}
