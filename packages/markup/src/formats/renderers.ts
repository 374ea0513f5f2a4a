import type { MarkupFormat } from './format-names.ts'

type Render = (text: string) => string | Promise<string>

/**
 * The renderer of each format, loaded when it is first needed. Its HTML is not sanitised: it may contain anything that the
 * author wrote.
 */
export const renderers: Readonly<Record<MarkupFormat, () => Promise<Render>>> = {
  markdown: async () => (await import('./markdown.ts')).renderMarkdown,
  asciidoc: async () => (await import('./asciidoc.ts')).renderAsciidoc,
  org: async () => (await import('./org.ts')).renderOrg,
  rdoc: async () => (await import('./rdoc.ts')).renderRdoc,
}
