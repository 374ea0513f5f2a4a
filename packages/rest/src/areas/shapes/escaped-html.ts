const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns the text as HTML, with named entities as in GitLab's answers. */
export const escapedHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)
