const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns the text in a form that is only text in HTML, also within an attribute in quotes. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character]!)

/** Returns a document without styles from other places, images or scripts. `paragraphs` are HTML. */
export const htmlDocument = (paragraphs: readonly string[]): string =>
  `<!doctype html><html lang="en"><body>\n${paragraphs.map((each) => `<div style="margin:0 0 1em">${each}</div>`).join('\n')}\n</body></html>`
