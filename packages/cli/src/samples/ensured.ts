import { DomainError } from '@penstock/core'

/** What is there, else what is made now. */
export async function ensured<Thing>(find: () => Promise<Thing>, make: () => Promise<Thing>): Promise<Thing> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'not_found') return make()
    throw error
  }
}
