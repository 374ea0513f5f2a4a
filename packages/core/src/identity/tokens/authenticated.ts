import type { User } from '../../base/model/user.ts'

/** The kinds of credentials. */
export type CredentialKind = 'personal' | 'impersonation' | 'project' | 'group' | 'oauth' | 'job' | 'session'

/** The state of a credential. One that is both expired and revoked is `expired`. */
export type CredentialState = 'valid' | 'expired' | 'revoked'

/**
 * A credential that was found, and its user. Functions that look up credentials return it, or `undefined` if the credential
 * is unknown. `admit` decides whether it may be used for the request: by its state, its scopes and the state of its user.
 */
export interface Authenticated {
  readonly kind: CredentialKind
  readonly state: CredentialState
  /** The id of the token in the table of its kind; `undefined` for a session. */
  readonly id: number | undefined
  /** `undefined` for an OAuth token of an application that acts for itself. */
  readonly user: User | undefined
  /** Job tokens and sessions have `api`, because no scope limits them. */
  readonly scopes: readonly string[]
  /** For a job token, the only project in which it acts as its user. */
  readonly projectId?: number
  /**
   * The id of the job that a job token belongs to, as in the pipeline records. Missing if the token was created
   * without one.
   */
  readonly jobId?: number | undefined
  /** For a session, the time of the sign-in. */
  readonly signedInAtMs?: number
  /** For a token in the table of access tokens, the time of its last use; `undefined` if it was never used. */
  readonly lastUsedAtMs?: number | undefined
}

/** Returns the id of a personal, impersonation, project or group token; `undefined` for other credentials. */
export const accessTokenIdOf = ({ kind, id }: Authenticated): number | undefined =>
  kind === 'oauth' || kind === 'job' || kind === 'session' ? undefined : id
