import type { JsonObject } from './body/fields.ts'
import { foreignBodies } from './forge/foreign-bodies.ts'
import type { Forge, NearMiss, ReadableBody } from './forge/forge.ts'
import { type ForgeName, forges } from './forges.ts'
import { RecordError } from './record/record-error.ts'

const all: readonly Forge[] = Object.values(forges)

export const readableBodies: readonly ReadableBody[] = all.flatMap(({ bodies }) => bodies)
export const nearMisses: readonly NearMiss[] = [...all.flatMap((forge) => forge.nearMisses), ...foreignBodies]

export const expectedBody = `must be ${all.map(({ expected }) => expected).join(', or ')}`

/**
 * Returns the form of a body.
 *
 * @param forgeName the forge that sent the body, if the user names it; absent to recognise the forge by the body
 * @throws {OtherHookError} for a hook about another event
 * @throws {RecordError} for every other body. For bodies that are often mistaken for a record, the message has advice.
 */
export function recognise(values: JsonObject, forgeName?: ForgeName): ReadableBody {
  if (forgeName !== undefined) return recogniseAs(forges[forgeName], forgeName, values)
  const [first, ...others] = readableBodies.filter(({ matches }) => matches(values))
  if (first !== undefined && others.length === 0) return first
  if (first !== undefined) throw new RecordError('', `has the members of several kinds of records; ${expectedBody}`)
  const otherHook = all.map((forge) => forge.otherHook(values)).find((error) => error !== undefined)
  if (otherHook !== undefined) throw otherHook
  throw new RecordError('', nearMisses.find(({ matches }) => matches(values))?.advice(values) ?? expectedBody)
}

function recogniseAs(forge: Forge, name: ForgeName, values: JsonObject): ReadableBody {
  const [first, ...others] = forge.bodies.filter(({ matches, fits = matches }) => fits(values))
  if (first !== undefined && others.length === 0) return first
  const otherHook = first === undefined ? forge.otherHook(values) : undefined
  if (otherHook !== undefined) throw otherHook
  const advice = [...forge.nearMisses, ...foreignBodies].find(({ matches }) => matches(values))?.advice(values)
  if (advice !== undefined) throw new RecordError('', advice)
  const other = first === undefined ? readableBodies.find(({ matches }) => matches(values)) : undefined
  const found = other === undefined ? '' : `is a ${other.kind}, and `
  throw new RecordError('', `${found}must be ${forge.expected}, because the forge is ${name}`)
}

/** Returns why a list is no record, if it is a list that users mistake for one. */
export const listAdvice = (list: readonly unknown[]): string | undefined =>
  all.map((forge) => forge.listAdvice?.(list)).find((advice) => advice !== undefined)
