import type { User } from '@penstock/core'

/** Returns the users without duplicates, in order of first occurrence. */
export const distinctUsers = (...users: readonly (User | undefined)[]): User[] => [
  ...new Map(users.flatMap((user) => (user === undefined ? [] : [[user.id, user] as const]))).values(),
]
