/** A piece of HTML in which all untrusted values are escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Builds HTML from a template. Strings are escaped, for use in elements and in quoted attributes. `Html` values and lists
 * of them are inserted unchanged.
 */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  return new Html(strings.reduce((before, piece, index) => before + escaped(values[index - 1]!) + piece))
}

function escaped(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return value instanceof Html ? value.text : value.map((piece) => piece.text).join('')
}
