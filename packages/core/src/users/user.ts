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
  /** The home of a bot; `undefined` for a person. */
  readonly botHome: BotHome | undefined
  readonly createdAtMs: number
  readonly lastActivityOn: string | undefined
}

export const userStates = ['active', 'blocked', 'deactivated', 'banned'] as const
export type UserState = (typeof userStates)[number]

export const userKinds = ['human', 'project_bot'] as const
export type UserKind = (typeof userKinds)[number]

/**
 * The project or group with the access token that the bot belongs to; neither, if it has been removed. The bot acts
 * there, and in everything below the group. Elsewhere it may only do what callers without a sign-in may do.
 */
export interface BotHome {
  readonly projectId: number | undefined
  readonly groupId: number | undefined
}

/** As much of a user as rules ask for. */
export interface ActingUser extends Pick<User, 'id' | 'username' | 'isAdministrator' | 'botHome'> {
  /** The access token that was shown, for what is about that one itself. */
  readonly accessTokenId?: number
  /** With the token of a job: of that project the user's rights count, of anything else nobody's. */
  readonly jobProjectId?: number
}

/** Returns the part of a user that access rules need. */
export const actingUser = ({ id, username, isAdministrator, botHome }: User): ActingUser => ({
  id,
  username,
  isAdministrator,
  botHome,
})

/** What may be shown of a user: all of it only to administrators and to the user. */
export interface UserProfile {
  readonly user: User
  readonly isWhole: boolean
}

/**
 * Ids of the namespaces of users begin above this, so that they differ from those of groups, which are their groups' own.
 */
const USER_NAMESPACES = 1_000_000_000

export const userNamespaceId = (userId: number): number => USER_NAMESPACES + userId
/** `undefined`: of a group. */
export const userOfNamespace = (namespaceId: number): number | undefined =>
  namespaceId > USER_NAMESPACES ? namespaceId - USER_NAMESPACES : undefined

const emailAddress = /^[^\s@<>]+@[^\s@<>]+$/
const MAX_EMAIL = 254
const passwordLength = { least: 8, most: 128 }

/** What is wrong with an e-mail address, if anything. */
export const validateEmail = (email: string): string | undefined =>
  email.length <= MAX_EMAIL && emailAddress.test(email) ? undefined : 'is invalid'

/** What is wrong with a password as such, if anything. In characters, not bytes. */
export function validatePassword(password: string): string | undefined {
  const length = [...password].length
  if (length < passwordLength.least) return `is too short (minimum is ${passwordLength.least} characters)`
  if (length > passwordLength.most) return `is too long (maximum is ${passwordLength.most} characters)`
  return undefined
}
