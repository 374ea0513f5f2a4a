import type { z } from 'zod'
import { traitsOf } from './schema-traits.ts'

/** The names of members that have secrets: tokens, passwords, keys, and the values of variables. */
const secretName = /(?:^|_)(?:token|secret|password|key|credentials?|dsn)$|^value$/

const cache = new WeakMap<z.core.$ZodType, boolean>()

/**
 * Returns whether an answer with this schema may have a secret, by the names of its members. An object with members that the schema
 * does not name may have one.
 */
export function holdsSecrets(schema: z.core.$ZodType): boolean {
  const known = cache.get(schema)
  if (known !== undefined) return known
  const seen = new Set<z.core.$ZodType>()
  const found = findSecret(schema, seen)
  // Without a secret, every schema that was reached has none. With one, the search ended early, and the others are unknown.
  if (found) cache.set(schema, true)
  else for (const one of seen) cache.set(one, false)
  return found
}

/** `seen` has the schemas that the search has reached: searching them again, in a schema that contains itself, would find nothing new. */
function findSecret(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): boolean {
  const known = cache.get(schema)
  if (known !== undefined) return known
  if (seen.has(schema)) return false
  seen.add(schema)
  const { shape, element, values, isLoose } = traitsOf(schema)
  return (
    isLoose ||
    values !== undefined ||
    (element !== undefined && findSecret(element, seen)) ||
    Object.entries(shape ?? {}).some(([name, member]) => secretName.test(name) || findSecret(member, seen))
  )
}
