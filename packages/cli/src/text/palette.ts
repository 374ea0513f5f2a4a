export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'blue' | 'magenta'

const codes: Readonly<Record<Style, number>> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
}

/** Returns a text with the escape codes of a style, or unchanged if colors are off. */
export type Palette = (style: Style, text: string) => string

export const plain: Palette = (_, text) => text

export const colorful: Palette = (style, text) => (text === '' ? '' : `\u001b[${codes[style]}m${text}\u001b[0m`)
