import type { KeyValue } from '@penstock/otlp'
import { cleanText, MAX_ARRAY_ELEMENTS, MAX_VALUE_BYTES, type Tally } from './text.ts'

interface ValueByType {
  string: string
  int: bigint
  double: number
  bool: boolean
  'string[]': readonly string[]
}
type AttributeType = keyof ValueByType

/**
 * One source value and the keys that carry it, legacy key first. The declared type alone decides the OTLP variant, so
 * that a key has the same type everywhere, independently of the value.
 *
 * The attribute is left out if the value is `undefined`, blank text, an empty list or a non-finite number.
 */
type AttributeRow<Context> = {
  [T in AttributeType]: {
    readonly keys: readonly [string, ...string[]]
    readonly type: T
    readonly from: (context: Context) => ValueByType[T] | undefined
    /** The maximum number of UTF-8 bytes of a text, if it is not `MAX_VALUE_BYTES`. */
    readonly maxBytes?: number
    /** Set for a key that only Penstock defines. The option `extensions: false` leaves it out. */
    readonly extension?: true
    /** Set for a key that only the option `extraAttributes` adds. */
    readonly extra?: true
    /**
     * Set for a value that is known while the job runs. `jobTraceContext` passes it to the tools of the job, under the
     * last key.
     */
    readonly knownInJob?: true
    /**
     * The fields of a pipeline hook that the value is read from; one of them is enough. Rows without this list depend
     * on the state of the run, which every payload contains.
     */
    readonly needs?: readonly [string, ...string[]]
    /** Returns whether the run can have the attribute at all. Without this function, every run can. */
    readonly applies?: (context: Context) => boolean
    /** The condition under which the attribute is missing. It is printed in `docs/reference/telemetry.md`. */
    readonly absent: string
  }
}[AttributeType]

export type AttributeTable<Context> = readonly AttributeRow<Context>[]

interface TableOptions {
  readonly vendorNamespace: string
  readonly extensions: boolean
  readonly extraAttributes: boolean
}

/** Returns the key with the vendor namespace in place of a leading `svc.`. */
export function vendorKey(key: string, vendorNamespace: string): string {
  return key.startsWith('svc.') ? vendorNamespace + key.slice('svc'.length) : key
}

/** A table with its keys spelled out for one configuration. */
export interface CompiledTable<Context> {
  readonly rows: readonly CompiledRow<Context>[]
  /** A buffer in which a list of attributes is built before it is copied. This costs less than growing a new array. */
  readonly scratch: KeyValue[]
}

type CompiledRow<Context> = AttributeRow<Context> & {
  /**
   * The last raw value, and the attributes made from it. Most values of a job equal those of the previous job. Reusing
   * the attribute objects saves cleaning them here and encoding them later. A truncated value is not stored, so that
   * every truncation is counted.
   */
  lastRaw: unknown
  readonly lastAttributes: KeyValue[]
}

export function compileTable<Context>(table: AttributeTable<Context>, options: TableOptions): CompiledTable<Context> {
  const rows = table
    .filter((row) => (options.extensions || !row.extension) && (options.extraAttributes || !row.extra))
    .map((row) => ({
      ...row,
      keys: row.keys.map((key) => vendorKey(key, options.vendorNamespace)) as [string, ...string[]],
      lastRaw: undefined,
      lastAttributes: [],
    }))
  return { rows, scratch: [] }
}

/** Returns the attributes that the rows of a compiled table have in `context`, in table order. */
export function attributesFrom<Context>(table: CompiledTable<Context>, context: Context, tally: Tally): KeyValue[] {
  const { rows, scratch } = table
  let count = 0
  for (const row of rows) {
    const raw = row.from(context)
    if (raw === undefined) continue
    let attributes = row.lastAttributes
    if (!isSame(row.lastRaw, raw)) {
      const changes = changesIn(tally)
      const value = cleanValue(row, raw, tally)
      if (value === undefined) continue
      if (changesIn(tally) === changes) row.lastRaw = raw
      else attributes = []
      const type = tagByType[row.type]
      for (let index = 0; index < row.keys.length; index += 1) {
        attributes[index] = { key: row.keys[index], type, value } as KeyValue
      }
    }
    for (let index = 0; index < attributes.length; index += 1) {
      scratch[count] = attributes[index]!
      count += 1
    }
  }
  return scratch.slice(0, count)
}

/** Returns whether two raw values are equal texts or numbers, or lists of equal texts. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  return a.every((element, i) => element === b[i])
}

const changesIn = (tally: Tally): number => tally.truncatedTexts + tally.droppedElements

const tagByType = { string: 'string', int: 'int', double: 'double', bool: 'bool', 'string[]': 'array' } as const

/** Returns the value in the form that an attribute has; `undefined` if the attribute is left out. */
function cleanValue(
  { type, maxBytes = MAX_VALUE_BYTES }: { readonly type: AttributeType; readonly maxBytes?: number },
  raw: ValueByType[AttributeType],
  tally: Tally,
): KeyValue['value'] | undefined {
  switch (type) {
    case 'string':
      return cleanText(raw as string, maxBytes, tally) || undefined
    case 'string[]': {
      const value = arrayValue(raw as readonly string[], tally)
      return value.length === 0 ? undefined : value
    }
    case 'double':
      return Number.isFinite(raw) ? (raw as number) : undefined
    default:
      return raw as bigint | boolean
  }
}

function arrayValue(texts: readonly string[], tally: Tally) {
  if (texts.length > MAX_ARRAY_ELEMENTS) tally.droppedElements += texts.length - MAX_ARRAY_ELEMENTS
  return texts
    .slice(0, MAX_ARRAY_ELEMENTS)
    .map((text) => ({ type: 'string' as const, value: cleanText(text, MAX_VALUE_BYTES, tally) }))
    .filter(({ value }) => value !== '')
}
