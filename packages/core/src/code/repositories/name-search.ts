import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '@penstock/runtime'

/** How long names may be compared before the event loop gets a turn. */
const WITHOUT_TURN_MS = 10

/**
 * Returns the items with a name that matches, in several turns of the event loop: a repository can have hundreds of thousands of
 * branches, and a regular expression takes much longer for each of them than a text.
 */
export async function withMatchingName<Item extends { readonly name: string }>(
  items: readonly Item[],
  isMatch: (name: string) => boolean,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<Item[]> {
  const found: Item[] = []
  let turnMs = clock.monotonicMs()
  for (const item of items) {
    if (isMatch(item.name)) found.push(item)
    if (clock.monotonicMs() - turnMs < WITHOUT_TURN_MS) continue
    await nextTurn()
    turnMs = clock.monotonicMs()
  }
  return found
}

/**
 * Returns whether the name contains the search text, ignoring case; `^` anchors it to the beginning, `$` to the end.
 */
export function matchesSearch(search: string | null | undefined, name: string): boolean {
  if (!search) return true
  const text = search.replace(/^\^/, '').replace(/\$$/, '').toLowerCase()
  const [isPrefix, isSuffix, lower] = [search.startsWith('^'), search.endsWith('$'), name.toLowerCase()]
  if (isPrefix && isSuffix) return lower === text
  if (isPrefix) return lower.startsWith(text)
  return isSuffix ? lower.endsWith(text) : lower.includes(text)
}

/**
 * Returns whether a name matches a pattern in which `*` matches any characters; every other character represents
 * itself.
 */
export function matchesWildcard(pattern: string, name: string): boolean {
  const [first, ...rest] = pattern.split('*')
  if (rest.length === 0) return name === pattern
  const last = rest.pop()!
  if (!name.startsWith(first!)) return false
  let from = first!.length
  for (const part of rest) {
    const at = name.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}
