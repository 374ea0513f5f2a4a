/** A person or a bot. */
export interface User {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly publicEmail: string | undefined
  readonly state: UserState
  readonly isAdministrator: boolean
  /** Of a project or group access token: the token's own user. */
  readonly isBot: boolean
  readonly createdAtMs: number
  readonly lastActivityOn: string | undefined
}

export const userStates = ['active', 'blocked', 'deactivated', 'banned'] as const
export type UserState = (typeof userStates)[number]

/** As much of a user as rules ask for. */
export interface ActingUser extends Pick<User, 'id' | 'username' | 'isAdministrator'> {}
