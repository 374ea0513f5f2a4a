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
  // A schema that contains itself adds nothing to the result.
  cache.set(schema, false)
  const { shape, element, values, isLoose } = traitsOf(schema)
  const members = Object.entries(shape ?? {})
  const found =
    isLoose ||
    values !== undefined ||
    (element !== undefined && holdsSecrets(element)) ||
    members.some(([name, member]) => secretName.test(name) || holdsSecrets(member))
  cache.set(schema, found)
  return found
}
