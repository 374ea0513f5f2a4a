import type { JsonObject } from './fields.ts'

/** Checks of which members a body has, for the signatures by which its kind is recognised. */
export const has = (values: JsonObject, ...keys: readonly string[]): boolean => keys.every((key) => key in values)
export const hasAny = (values: JsonObject, ...keys: readonly string[]): boolean => keys.some((key) => key in values)
export const isWord = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
export const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

/** Returns an id; `undefined` if the value is not a positive integer, or if it lost precision when it was parsed. */
export function toId(value: unknown): bigint | undefined {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const id = isInteger ? BigInt(value as bigint | number) : 0n
  return id > 0n ? id : undefined
}
