import { type Fields, text } from './fields.ts'

/** Parts without `@`, so that the time for a match grows with the length of the name only. */
const emailAddress = /\S@[^\s@]+\.[^\s@]/

/** Reads the name of a user. A name that contains an e-mail address is absent: some forges show it for users without a name. */
export function userName(fields: Fields, key: string): string | undefined {
  const name = text(fields, key)
  return name !== undefined && emailAddress.test(name) ? undefined : name
}
