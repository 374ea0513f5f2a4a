/** Returns the text without HTML tags, with decoded entities, and without white space at the ends. */
export const withoutHtml = (text: string): string => decodeEntities(text.replace(/<[/!]?[a-z-][^<>]*>/gi, '')).trim()

const entities = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return entities.get(name) ?? entity
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : entity
  })
}
