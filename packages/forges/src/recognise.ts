import type { JsonObject } from './body/fields.ts'
import { foreignBodies } from './forge/foreign-bodies.ts'
import type { Forge, NearMiss, ReadableBody } from './forge/forge.ts'
import { forges } from './forges.ts'
import { RecordError } from './record/record-error.ts'

const all: readonly Forge[] = Object.values(forges)

export const readableBodies: readonly ReadableBody[] = all.flatMap(({ bodies }) => bodies)
export const nearMisses: readonly NearMiss[] = [...all.flatMap((forge) => forge.nearMisses), ...foreignBodies]

export const expectedBody = `must be ${all.map(({ expected }) => expected).join(', or ')}`

/**
 * Returns the form of a body.
 *
 * @throws {OtherHookError} for a hook about another event
 * @throws {RecordError} for every other body. For bodies that are often mistaken for a record, the message has advice.
 */
export function recognise(values: JsonObject): ReadableBody {
  const [first, ...others] = readableBodies.filter(({ matches }) => matches(values))
  if (first !== undefined && others.length === 0) return first
  if (first !== undefined) throw new RecordError('', `has the members of several kinds of records; ${expectedBody}`)
  const otherHook = all.map((forge) => forge.otherHook(values)).find((error) => error !== undefined)
  if (otherHook !== undefined) throw otherHook
  throw new RecordError('', nearMisses.find(({ matches }) => matches(values))?.advice(values) ?? expectedBody)
}

/** Returns why a list is no record, if it is a list that users mistake for one. */
export const listAdvice = (list: readonly unknown[]): string | undefined =>
  all.map((forge) => forge.listAdvice?.(list)).find((advice) => advice !== undefined)
