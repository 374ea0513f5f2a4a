import { expect } from 'vitest'

type Json = Readonly<Record<string, unknown>>

/**
 * Compares what a program printed with what the API holds: every field that both have is equal, and what the program printed
 * beyond that is empty. A program in Go prints a missing value as zero.
 *
 * @param computed the fields that the program computes itself
 */
export function expectSameFields(printed: unknown, held: unknown, computed: readonly string[] = []): void {
  const isComputed = (line: string) => computed.some((name) => line.includes(`${name}.`) || line.startsWith(`${name}:`))
  expect(differences(printed, held, '').filter((line) => !isComputed(line))).toEqual([])
}

function differences(printed: unknown, held: unknown, path: string): string[] {
  if (isEmpty(printed) && isEmpty(held)) return []
  if (Array.isArray(printed) && Array.isArray(held)) {
    if (printed.length !== held.length) return [`${path}: ${printed.length} items instead of ${held.length}`]
    return printed.flatMap((item, index) => differences(item, held[index], `${path}[${index}]`))
  }
  if (isObject(printed) && (isObject(held) || held === undefined)) {
    return Object.keys(printed).flatMap((key) =>
      differences(printed[key], held?.[key], path === '' ? key : `${path}.${key}`),
    )
  }
  const isSame = comparable(printed) === comparable(held)
  return isSame ? [] : [`${path}: ${JSON.stringify(printed)} instead of ${JSON.stringify(held)}`]
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.values(value).every(isEmpty))

/** Times are equal if they name the same instant: programs omit the milliseconds of whole seconds. */
function comparable(value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : value
}
