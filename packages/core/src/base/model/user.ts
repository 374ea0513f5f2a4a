import type { UserSettings } from './user-settings.ts'

/** A person or a bot. */
export interface User {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly publicEmail: string | undefined
  readonly state: UserState
  readonly isAdministrator: boolean
  /** Whether this is the user of a project or group access token. */
  readonly isBot: boolean
  /** The home of a bot; `undefined` for a person. */
  readonly botHome: BotHome | undefined
  /**
   * An external user sees internal groups and projects only as a member, and cannot create top-level groups or projects
   * in the user's own namespace.
   */
  readonly isExternal: boolean
  readonly canCreateGroup: boolean
  /** The most projects in the user's namespace. */
  readonly projectsLimit: number
  readonly settings: UserSettings
  /** The file name of the user's picture. */
  readonly avatar: string | undefined
  readonly createdAtMs: number
  /** The time of the last change. A new password or a new day of activity is none. */
  readonly updatedAtMs: number
  readonly lastActivityOn: string | undefined
}

export const userStates = ['active', 'blocked', 'deactivated', 'banned'] as const
export type UserState = (typeof userStates)[number]

export const userKinds = ['human', 'project_bot'] as const
export type UserKind = (typeof userKinds)[number]

/**
 * The project or group of the bot's access token. Neither is set if the project or group has been removed. The bot acts
 * there, and in everything below the group. Elsewhere it may only do what callers without a sign-in may do.
 */
export interface BotHome {
  readonly projectId: number | undefined
  readonly groupId: number | undefined
}

/** The part of a user that access rules need. */
export interface ActingUser extends Pick<User, 'id' | 'username' | 'isAdministrator' | 'botHome'> {
  /** Whether the request is authenticated by a session. Missing for every kind of token. */
  readonly isSession?: boolean
  /** The id of the access token of the request, for operations on that token. */
  readonly accessTokenId?: number
  readonly isExternal?: boolean
  /** The project of the job that owns the token of the request. The user's rights count only there. */
  readonly jobProjectId?: number
  /** The id of that job in its records, if the token names it. */
  readonly jobId?: number
}

/** The caller; `undefined` if the caller has not signed in. */
export type Actor = ActingUser | undefined

/** Returns the part of a user that access rules need. */
export const actingUser = ({ id, username, isAdministrator, botHome, isExternal }: User): ActingUser => ({
  id,
  username,
  isAdministrator,
  botHome,
  ...(isExternal && { isExternal }),
})

/** A user, and whether the actor may see all fields. Only administrators and the user may. */
export interface UserProfile {
  readonly user: User
  readonly isWhole: boolean
  /** Whether the profile is shown to an administrator, who also sees the note. */
  readonly isForAdministrator: boolean
}

/**
 * Ids of user namespaces begin above this number, so that they differ from the ids of group namespaces, which are the
 * ids of the groups.
 */
const USER_NAMESPACES = 1_000_000_000

export const userNamespaceId = (userId: number): number => USER_NAMESPACES + userId
/** Returns the id of the user that owns a namespace; `undefined` if it belongs to a group. */
export const userOfNamespace = (namespaceId: number): number | undefined =>
  namespaceId > USER_NAMESPACES ? namespaceId - USER_NAMESPACES : undefined
