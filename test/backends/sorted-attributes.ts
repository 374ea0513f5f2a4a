type Json = Readonly<Record<string, unknown>>

/** Returns a decoded message with every list of attributes in the order of the keys, because some backends keep no order. */
export function withSortedAttributes(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withSortedAttributes)
    return items.every(hasKey) ? items.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) : items
  }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || 'type' in value) return value
  return Object.fromEntries(Object.entries(value as Json).map(([key, each]) => [key, withSortedAttributes(each)]))
}

const hasKey = (item: unknown): item is { key: string } =>
  typeof item === 'object' && item !== null && typeof (item as Json).key === 'string'
