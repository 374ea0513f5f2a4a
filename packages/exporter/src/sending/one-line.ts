const MAX_CHARACTERS = 300

/** Returns a foreign text made safe for terminals and logs: one short line without control or format characters. */
export function oneLine(text: string): string {
  const characters = [...text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()]
  return characters.length <= MAX_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}
