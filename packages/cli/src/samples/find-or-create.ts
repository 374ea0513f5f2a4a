import { DomainError } from '@penstock/core'

/** Returns the existing object, or creates it. */
export async function findOrCreate<Thing>(find: () => Promise<Thing>, make: () => Promise<Thing>): Promise<Thing> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'not_found') return make()
    throw error
  }
}
