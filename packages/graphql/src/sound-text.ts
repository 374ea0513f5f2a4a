/** Text that every database takes: without NUL and half surrogate pairs. */
export const isSound = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Whether all text in a JSON value is. */
export function isSoundThroughout(root: unknown): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string' && !isSound(value)) return false
    if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) open.push(child)
  }
  return true
}
