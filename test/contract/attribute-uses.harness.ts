import type { AnyValue, KeyValue, Span } from '@penstock/otlp'

export type Attributes = ReadonlyMap<string, AnyValue>

export interface SpanView {
  readonly span: Span
  readonly attributes: Attributes
}

export const attributeMap = (attributes: readonly KeyValue[]): Attributes =>
  new Map(attributes.map(({ key, ...value }) => [key, value as AnyValue]))

/** The use of a key by one side. */
export interface KeyUse {
  /** The kinds of things that have the key, such as `job`. */
  readonly places: Set<string>
  readonly types: Set<string>
  values: number
  /** The number of empty strings. */
  blank: number
}

/** Returns the uses of each key, from lists of attributes with the place of each. */
export function countKeys(lists: Iterable<readonly [place: string, attributes: Attributes]>): Map<string, KeyUse> {
  const uses = new Map<string, KeyUse>()
  for (const [place, attributes] of lists) {
    for (const [key, { type, value }] of attributes) {
      const use = uses.get(key) ?? { places: new Set(), types: new Set(), values: 0, blank: 0 }
      uses.set(key, use)
      use.places.add(place)
      use.types.add(type === 'array' ? 'string[]' : type)
      use.values += 1
      if (value === '') use.blank += 1
    }
  }
  return uses
}

export const kindOf = ({ places, types }: KeyUse): string => `${[...places].join(', ')}: ${[...types].join(', ')}`

/** Returns where and as which type Penstock sends a key; the type is bold if it differs. */
export function typeRemark(theirs: KeyUse, ours: KeyUse): string {
  const same = [...theirs.types].join() === [...ours.types].join()
  return same ? kindOf(ours) : `${[...ours.places].join(', ')}: **${[...ours.types].join(', ')}**`
}

export const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)

export const valueText = ({ type, value }: AnyValue): string =>
  type === 'array' ? value.map((each) => String(each.value)).join() : String(value)
