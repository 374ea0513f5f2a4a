import type { JsonObject } from './fields.ts'

/** Checks of which members a body has, for the signatures by which its kind is recognised. */
export const has = (values: JsonObject, ...keys: readonly string[]): boolean => keys.every((key) => key in values)
export const hasAny = (values: JsonObject, ...keys: readonly string[]): boolean => keys.some((key) => key in values)
export const isWord = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
export const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)
