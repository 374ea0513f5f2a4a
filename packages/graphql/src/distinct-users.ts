import type { User } from '@penstock/core'

/** Everyone once, in the order in which they are named first. */
export const distinctUsers = (...users: readonly (User | undefined)[]): User[] => [
  ...new Map(users.flatMap((user) => (user === undefined ? [] : [[user.id, user] as const]))).values(),
]
