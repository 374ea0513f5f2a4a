/** The formats of wiki pages. */
export const markupFormats = ['markdown', 'asciidoc', 'org', 'rdoc'] as const
export type MarkupFormat = (typeof markupFormats)[number]
