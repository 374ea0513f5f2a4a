import type { KeyValue } from '@penstock/otlp'
import { cleanText, MAX_ARRAY_ELEMENTS, MAX_VALUE_BYTES, type Tally } from './text.ts'

interface ValueByType {
  string: string
  int: bigint
  double: number
  bool: boolean
  'string[]': readonly string[]
}
export type AttributeType = keyof ValueByType

/**
 * One source value and the keys that carry it, legacy key first. The declared type picks the OTLP variant, whatever the
 * value looks like, so that a key has one type everywhere.
 *
 * `undefined`, blank text, an empty list and a non-finite number mean: no attribute.
 */
export type AttributeRow<Context> = {
  [T in AttributeType]: {
    readonly keys: readonly [string, ...string[]]
    readonly type: T
    readonly from: (context: Context) => ValueByType[T] | undefined
    /** A key of ours that the interface does not list; the option `extensions` leaves it out. */
    readonly extension?: true
    /** A key that only the option `extraAttributes` adds. */
    readonly extra?: true
    /** When the attribute is missing, in the words of the documentation. */
    readonly absent: string
  }
}[AttributeType]

export type AttributeTable<Context> = readonly AttributeRow<Context>[]

export interface TableOptions {
  readonly vendorNamespace: string
  readonly extensions: boolean
  readonly extraAttributes: boolean
}

/** `svc.` at the front stands for the vendor namespace. */
export function vendorKey(key: string, vendorNamespace: string): string {
  return key.startsWith('svc.') ? vendorNamespace + key.slice('svc'.length) : key
}

/** A table with its keys spelled out for one configuration. */
export type CompiledTable<Context> = readonly CompiledRow<Context>[]

type CompiledRow<Context> = AttributeRow<Context> & {
  /**
   * The last value and its attributes. Most values of a job are those of the job before, and the same objects save
   * cleaning here and encoding later. A value that had to be cut is not kept, so that every cut is counted.
   */
  last: { readonly raw: unknown; readonly attributes: readonly KeyValue[] } | undefined
}

export function compileTable<Context>(table: AttributeTable<Context>, options: TableOptions): CompiledTable<Context> {
  return table
    .filter((row) => (options.extensions || !row.extension) && (options.extraAttributes || !row.extra))
    .map((row) => ({
      ...row,
      keys: row.keys.map((key) => vendorKey(key, options.vendorNamespace)) as [string, ...string[]],
      last: undefined,
    }))
}

/** Appends to `into` what the rows of a compiled table find in `context`, in table order. */
export function appendAttributes<Context>(
  into: KeyValue[],
  table: CompiledTable<Context>,
  context: Context,
  tally: Tally,
): KeyValue[] {
  for (const row of table) {
    const raw = row.from(context)
    if (raw === undefined) continue
    if (row.last === undefined || !isSame(row.last.raw, raw)) {
      const changes = changesIn(tally)
      const value = anyValueOf(row.type, raw, tally)
      if (value === undefined) continue
      const attributes = row.keys.map((key) => ({ key, type: value.type, value: value.value }) as KeyValue)
      if (changesIn(tally) !== changes) {
        into.push(...attributes)
        continue
      }
      row.last = { raw, attributes }
    }
    for (const attribute of row.last.attributes) into.push(attribute)
  }
  return into
}

/** Equal texts and numbers, or lists of equal texts. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  return a.every((element, i) => element === b[i])
}

const changesIn = (tally: Tally): number => tally.truncatedTexts + tally.droppedElements

const tagByType = { string: 'string', int: 'int', double: 'double', bool: 'bool', 'string[]': 'array' } as const

type TaggedValue = { readonly type: (typeof tagByType)[AttributeType]; readonly value: unknown }

function anyValueOf(type: AttributeType, raw: ValueByType[AttributeType], tally: Tally): TaggedValue | undefined {
  switch (type) {
    case 'string': {
      const value = cleanText(raw as string, MAX_VALUE_BYTES, tally)
      return value === '' ? undefined : { type: 'string', value }
    }
    case 'string[]': {
      const value = arrayValue(raw as readonly string[], tally)
      return value.length === 0 ? undefined : { type: 'array', value }
    }
    case 'double':
      return Number.isFinite(raw) ? { type: 'double', value: raw } : undefined
    default:
      return { type: tagByType[type], value: raw }
  }
}

function arrayValue(texts: readonly string[], tally: Tally) {
  if (texts.length > MAX_ARRAY_ELEMENTS) tally.droppedElements += texts.length - MAX_ARRAY_ELEMENTS
  return texts
    .slice(0, MAX_ARRAY_ELEMENTS)
    .map((text) => ({ type: 'string' as const, value: cleanText(text, MAX_VALUE_BYTES, tally) }))
    .filter(({ value }) => value !== '')
}
