/**
 * The differences between the exporter's tables and the embedded store, as changes to an answer. Each is made to the answers of both stores before they
 * are compared. docs/guides/observe.md lists the same.
 */
type Json = Readonly<Record<string, unknown>>

/** Fields that no table has, or that one of the tables does not have. */
const lostFields: ReadonlySet<string> = new Set([
  'droppedAttributesCount',
  'droppedEventsCount',
  'droppedLinksCount',
  'observedTimeUnixNano',
  'zeroThreshold',
  'last_seen_at',
])
/** Fields that the exporter stores as 0 or an empty list if they are missing. */
const defaultedFields: Json = { sum: 0, min: 0, max: 0, count: '0', scale: 0, zeroCount: '0', offset: 0 }

/** Returns an answer without what the exporter's tables do not hold. */
export function withoutLosses(answer: unknown): unknown {
  if (Array.isArray(answer)) return inOrderOfTies(answer.map(withoutLosses))
  if (typeof answer !== 'object' || answer === null) return answer
  const entries = Object.entries(changed(answer as Json))
    .filter(([key]) => !lostFields.has(key))
    .sort(byKey)
  return Object.fromEntries(entries.map(([key, value]) => [key, fieldOf(key, value)]))
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

function changed(object: Json): Json {
  // A span has its resource and scope beside it; the tables of spans have neither flags nor attributes of scopes.
  if ('span' in object) {
    const { flags: _, links, ...span } = object.span as Json
    const { attributes: __, ...scope } = (object.scope ?? {}) as Json
    const linksWithoutFlags = (links as Json[] | undefined)?.map(({ flags: _, ...link }) => link)
    return { ...object, scope, span: { ...span, ...(linksWithoutFlags && { links: linksWithoutFlags }) } }
  }
  if ('asInt' in object) {
    const { asInt, ...rest } = object
    return { ...rest, asDouble: Number(asInt) }
  }
  // The time of a record that has none is the time at which it was observed; `time_unix_nano` is compared.
  if ('record' in object) {
    const { flags: _, timeUnixNano: __, ...record } = object.record as Json
    return { ...object, record }
  }
  if ('trace_ids' in object) return { ...object, trace_ids: (object.trace_ids as string[]).toSorted() }
  if ('series' in object && Array.isArray(object.series)) {
    return { ...object, series: object.series.toSorted((a, b) => (seriesKey(a) < seriesKey(b) ? -1 : 1)) }
  }
  if ('bucketCounts' in object || 'quantileValues' in object || 'positive' in object)
    return { ...defaultedFields, ...object }
  return object
}

const seriesKey = ({ attributes, resource, scope }: Json): string =>
  JSON.stringify([textsOf(attributes), textsOf((resource as Json).attributes), scope])

function fieldOf(key: string, value: unknown): unknown {
  if (key === 'attributes' || key === 'filteredAttributes') return textsOf(value)
  if (key === 'body') return textOf(value)
  return withoutLosses(value)
}

/** Returns attributes as a map of texts. */
const textsOf = (attributes: unknown): Json =>
  Object.fromEntries(
    ((attributes ?? []) as { key: string; value: unknown }[])
      .map(({ key, value }): [string, string] => [key, textOf(value)])
      .sort(byKey),
  )

/** Returns an AnyValue as the exporter writes it. */
function textOf(value: unknown): string {
  const { intValue } = (value ?? {}) as Json
  if (intValue !== undefined) return String(intValue)
  const plain = plainOf(value)
  return typeof plain === 'string' ? plain : plain === undefined ? '' : JSON.stringify(plain)
}

function plainOf(value: unknown): unknown {
  const { intValue, arrayValue, kvlistValue, ...scalar } = (value ?? {}) as Json
  if (intValue !== undefined) return Number(intValue)
  if (arrayValue !== undefined) return ((arrayValue as { values?: unknown[] }).values ?? []).map(plainOf)
  if (kvlistValue !== undefined) {
    const list = (kvlistValue as { values?: { key: string; value: unknown }[] }).values ?? []
    return Object.fromEntries(
      list.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((one) => [one.key, plainOf(one.value)]),
    )
  }
  return Object.values(scalar)[0]
}

/** The times that lists are ordered by, the latest first. */
const timeKeys = ['start_ns', 'time_unix_nano'] as const

/** Sorts the items that have the same time: the exporter stores no order of arrival. */
function inOrderOfTies(items: unknown[]): unknown[] {
  const first = items[0] as Json | undefined
  const key = timeKeys.find((name) => typeof first === 'object' && first !== null && name in first)
  // The jobs in `shape` are in another order, by their start.
  if (key === undefined || 'stage' in first!) return items
  const order = new Map(items.map((item) => [item, JSON.stringify(item)]))
  const times: unknown[] = [...new Set(items.map((item) => (item as Json)[key]))]
  return times.flatMap((time) =>
    items.filter((item) => (item as Json)[key] === time).sort((a, b) => (order.get(a)! < order.get(b)! ? -1 : 1)),
  )
}
