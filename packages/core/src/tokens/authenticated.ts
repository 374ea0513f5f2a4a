import type { User } from '../users/user.ts'

/** What a caller can show. */
export type CredentialKind = 'personal' | 'impersonation' | 'project' | 'group' | 'oauth' | 'job' | 'session'

/** Whether it counts. Expired goes before revoked: what is both is `expired`. */
export type CredentialState = 'valid' | 'expired' | 'revoked'

/**
 * What is behind a credential that was found; whoever looks one up gives this, or `undefined` for one that is unknown.
 *
 * Whether it may be used for the request at hand (its state, its scopes, the state of its user) is for `admit` to say.
 */
export interface Authenticated {
  readonly kind: CredentialKind
  readonly state: CredentialState
  /** Of the token, within the table of its kind; `undefined` for a session. */
  readonly id: number | undefined
  /** `undefined`: an OAuth token that an application has got for itself. */
  readonly user: User | undefined
  /** Of a job token and of a session: `api`, as they are held to nothing narrower. */
  readonly scopes: readonly string[]
  /** Of a job token: the only project in which it acts as its user. */
  readonly projectId?: number
  /** Of what is in the table of access tokens; `undefined`: never. */
  readonly lastUsedAtMs?: number | undefined
}

/** Of a personal, impersonation, project or group token. */
export const accessTokenIdOf = ({ kind, id }: Authenticated): number | undefined =>
  kind === 'oauth' || kind === 'job' || kind === 'session' ? undefined : id
