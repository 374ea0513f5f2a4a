import { renderAsciidoc } from './asciidoc.ts'
import type { MarkupFormat } from './format-names.ts'
import { renderMarkdown } from './markdown.ts'
import { renderOrg } from './org.ts'
import { renderRdoc } from './rdoc.ts'

/** The renderer of each format. Its HTML is not sanitised: it may contain anything that the author wrote. */
export const renderers: Readonly<Record<MarkupFormat, (text: string) => string | Promise<string>>> = {
  markdown: renderMarkdown,
  asciidoc: renderAsciidoc,
  org: renderOrg,
  rdoc: renderRdoc,
}
