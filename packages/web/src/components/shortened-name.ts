const BEGIN = 26
const END = 24

/** Returns a name that is short enough for two lines of a cell: of a long one, the beginning and the end. */
export function shortenedName(text: string): string {
  const characters = [...text]
  if (characters.length <= BEGIN + END + 1) return text
  return `${characters.slice(0, BEGIN).join('')}…${characters.slice(-END).join('')}`
}
