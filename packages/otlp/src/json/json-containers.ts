import { refuse, within } from '../bytes/decode-error.ts'
import type { DecodeBudget } from '../bytes/decode-limits.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function objectFromJson(json: unknown): JsonObject {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return refuse('must be an object')
  return json as JsonObject
}

export function arrayFromJson<T>(json: unknown, budget: DecodeBudget, fromJson: (element: unknown) => T): T[] {
  if (!Array.isArray(json)) return refuse('must be an array')
  return json.map((element, index) => {
    try {
      budget.takeElement()
      return fromJson(element)
    } catch (error) {
      throw within(error, `[${index}]`)
    }
  })
}
