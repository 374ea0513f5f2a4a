/** A piece of HTML in which everything that came from outside has been escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Puts values into HTML: as text, in elements and in quoted attributes; other pieces, or lists of them, as they are. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  return new Html(strings.reduce((before, piece, index) => before + inHtml(values[index - 1]!) + piece))
}

function inHtml(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
  return value instanceof Html ? value.text : value.map((piece) => piece.text).join('')
}
