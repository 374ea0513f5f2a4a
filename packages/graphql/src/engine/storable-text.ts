/** Returns whether both databases can store the text: it has no NUL and no unpaired surrogate. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Returns whether both databases can store every string value in a JSON value. */
export function hasOnlyStorableText(root: unknown): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string' && !isStorable(value)) return false
    if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) open.push(child)
  }
  return true
}
