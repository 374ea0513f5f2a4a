import { escapeHtml } from '../html/escape-html.ts'

/** Renders RDoc as preformatted text. The line break after the tag is not part of the text. */
export function renderRdoc(text: string): string {
  return `<pre>\n${escapeHtml(text)}</pre>`
}
