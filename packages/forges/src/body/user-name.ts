import { type Fields, text } from './fields.ts'

/** Reads the name of a user. A name that contains an e-mail address is absent: some forges show it for users without a name. */
export function userName(fields: Fields, key: string): string | undefined {
  const name = text(fields, key)
  return name !== undefined && /\S@\S+\.\S/.test(name) ? undefined : name
}
