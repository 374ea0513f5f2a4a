const MAX_DEPTH = 32
const MAX_ELEMENTS = 50_000
const MAX_MEMBERS = 50_000
const MAX_IN_ALL = 100_000

/**
 * Refuses JSON that is too deep or too large to be looked at.
 *
 * @throws what `refusal` makes of the reason
 * @see spec/graphql-contract.md 1.1
 */
export function requireModestJson(root: unknown, refusal: (message: string) => Error): void {
  let inAll = 0
  // A stack of its own: what is deep must not end ours.
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 1 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next
    if (typeof value === 'number' && !Number.isFinite(value)) throw refusal('JSON has a number that is too long')
    if (typeof value !== 'object' || value === null) continue
    if (depth > MAX_DEPTH) throw refusal(`JSON is nested deeper than ${MAX_DEPTH}`)
    const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
    const most = Array.isArray(value) ? MAX_ELEMENTS : MAX_MEMBERS
    if (children.length > most) throw refusal(`JSON has more than ${most} values in one place`)
    inAll += children.length
    if (inAll > MAX_IN_ALL) throw refusal(`JSON has more than ${MAX_IN_ALL} values in all`)
    for (const child of children) open.push({ value: child, depth: depth + 1 })
  }
}
