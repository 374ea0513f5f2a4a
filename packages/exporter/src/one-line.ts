const MAX_CHARACTERS = 300

/** A stranger's text, fit for a terminal and a log: no line breaks, control or format characters, and not long. */
export function oneLine(text: string): string {
  const characters = [...text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()]
  return characters.length <= MAX_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}
