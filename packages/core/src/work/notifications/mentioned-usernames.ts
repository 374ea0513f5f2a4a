const MAX_MENTIONS = 100

/** Returns the names after `@` in a text, in lower case, without code and without addresses. At most 100 are found. */
export function mentionedUsernames(text: string): string[] {
  const prose = text.replaceAll(/```[\s\S]*?(?:```|$)/g, ' ').replaceAll(/`[^`\n]*`/g, ' ')
  const names = new Set<string>()
  for (const [, name] of prose.matchAll(/(?<![\w@/.-])@([a-z0-9_][a-z0-9_.-]{0,254})/gi)) {
    names.add(name!.replace(/[.-]+$/, '').toLowerCase())
    if (names.size >= MAX_MENTIONS) break
  }
  return [...names]
}
