import { type Fields, isObject, type JsonObject, section, sections, warn } from './fields.ts'
import { isWord } from './shape.ts'

/**
 * Reads the objects of a list, or of the answer of a list endpoint, which is an object with the list in `listKey`; `undefined` if
 * there is no list.
 */
export function listSections(fields: Fields, key: string, listKey: string): readonly Fields[] | undefined {
  if (!isObject(fields.values[key])) return sections(fields, key)
  const answer = section(fields, key)
  return answer && sections(answer, listKey)
}

/** Returns whether a list is a page that another one follows, and adds a warning if it is. The next page is named in `nextKey`. */
export function hasNextPage(fields: Fields, key: string, nextKey: string): boolean {
  const answer = fields.values[key]
  if (!isObject(answer) || !isWord(answer[nextKey])) return false
  warn(fields, key, 'has a next page; fetch the other pages, too')
  return true
}

/** Returns whether a value is a list, or the answer of a list endpoint. */
export const isListAnswer = (value: unknown, listKey: string): boolean =>
  Array.isArray(value) || (isObject(value) && Array.isArray(value[listKey]))

/** Returns the objects of a list or of the answer of a list endpoint by the text of their ids. */
export function objectsById(value: unknown, listKey: string, idKey = 'id'): ReadonlyMap<string, JsonObject> {
  const list: unknown = isObject(value) ? value[listKey] : value
  const objects = Array.isArray(list) ? list.filter(isObject) : []
  return new Map(objects.map((each) => [String(each[idKey]), each]))
}
