declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it'

  /** Adds the footnotes of Pandoc to a parser. */
  const footnotes: (parser: MarkdownIt) => void
  export default footnotes
}
