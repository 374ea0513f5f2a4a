const MAX_MENTIONS = 100
const mention = /(?<![\w@/.-])@[a-z0-9_][a-z0-9_.-]{0,254}/gi

/** Returns the names after `@` in a text, in lower case, without code and without addresses. At most 100 are found. */
export function mentionedUsernames(text: string): string[] {
  const names = new Set<string>()
  // A text may mention a few users a hundred thousand times, so each spelling is converted once.
  for (const spelling of new Set(withoutCode(text).match(mention))) {
    names.add(
      spelling
        .slice(1)
        .replace(/[.-]+$/, '')
        .toLowerCase(),
    )
    if (names.size >= MAX_MENTIONS) break
  }
  return [...names]
}

const withoutCode = (text: string): string =>
  text.includes('`') ? text.replaceAll(/```[\s\S]*?(?:```|$)/g, ' ').replaceAll(/`[^`\n]*`/g, ' ') : text
