import { type FieldTable, newObject, type ObjectOf } from './field-table.ts'

// Settings are the fields that no query selects by. One column stores all of them as JSON: only values that differ from the
// default, so that most rows store `{}`. The columns of such a field table are the names in the JSON.

/** The stored text of an object that has the default value for every setting. */
export const noSettings = '{}'

const defaultsCache = new WeakMap<FieldTable, unknown>()

/** Returns the settings of an object that has none stored: the default values. */
export function defaultSettings<Fields extends FieldTable>(fields: Fields): ObjectOf<Fields> {
  const defaults = (defaultsCache.get(fields) ?? newObject(fields, {})) as ObjectOf<Fields>
  defaultsCache.set(fields, defaults)
  return defaults
}

/** Returns the settings that a text stores. Names that are not in the table are ignored. */
export function settingsFrom<Fields extends FieldTable>(fields: Fields, text: string): ObjectOf<Fields> {
  const defaults = defaultSettings(fields)
  if (text === noSettings) return defaults
  const stored = JSON.parse(text) as Readonly<Record<string, unknown>>
  const given = Object.entries(fields).flatMap(([key, { column }]) =>
    Object.hasOwn(stored, column) ? [[key, stored[column] ?? undefined]] : [],
  )
  return { ...defaults, ...Object.fromEntries(given) }
}

/** Returns the text that stores the settings. */
export function settingsText<Fields extends FieldTable>(fields: Fields, settings: ObjectOf<Fields>): string {
  const defaults = defaultSettings(fields)
  const changed = Object.entries(fields).flatMap(([key, { column }]) =>
    isSame(settings[key], defaults[key]) ? [] : [[column, settings[key] ?? null]],
  )
  return JSON.stringify(Object.fromEntries(changed))
}

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
