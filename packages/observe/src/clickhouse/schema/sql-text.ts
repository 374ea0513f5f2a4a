/** Returns a text as a literal of SQL. */
export const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

/** Returns texts as an array of literals. */
export const literals = (texts: readonly string[]): string => `[${texts.map(literal).join(', ')}]`
