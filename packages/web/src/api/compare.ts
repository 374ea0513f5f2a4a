import type { Comparison } from './answers.ts'
import { getJson } from './client.ts'

/** Compares two runs by their traces; `b` may be `median`. */
export function getComparison(a: string, b: string, signal?: AbortSignal): Promise<Comparison> {
  return getJson<Comparison>('/api/v1/observe/compare', { a, b }, signal)
}
