import type { UserState } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { inTransaction, serviceContext } from '../../base/operations/transaction.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { findOAuthToken } from '../oauth/oauth-token.ts'
import { findSession, isFromOurPage, type PageProof } from '../sessions/session.ts'
import { findLiveSuccessorIds, updateAsRevoked } from '../tokens/access-token-store.ts'
import { type Authenticated, accessTokenIdOf } from '../tokens/authenticated.ts'
import { findByAccessTokenText } from '../tokens/find-by-token-text.ts'
import { findByJobTokenText } from '../tokens/job-token.ts'
import { markUse } from '../tokens/mark-use.ts'

/** The credentials in a request of any protocol, without blank ones. */
export interface Presented {
  /** The bearer token: an OAuth token, a personal token or a job token. */
  readonly bearer?: string | undefined
  readonly privateToken?: string | undefined
  /** A job token that was sent in another place than `bearer`, in requests that accept job tokens. */
  readonly jobToken?: string | undefined
  readonly takesJobTokens: boolean
  /**
   * The secret in the session cookie. A request that may change something must prove that it comes from one of our own
   * pages.
   */
  readonly sessionSecret?: string | undefined
  readonly proof: PageProof
  readonly changesNothing: boolean
}

/**
 * Returns the first credential of the request, in this order: job token as bearer, OAuth token, access token, job token
 * elsewhere, session. Returns `unknown` if that credential is not known, and `undefined` if the request has none.
 */
export async function identify(core: Core, presented: Presented): Promise<Authenticated | 'unknown' | undefined> {
  const found = await findCredential(core, presented)
  return found === undefined || found === 'unknown' ? found : withoutInactiveAdminRights(core, found)
}

/** Removes administrator rights in admin mode, unless the credential has the scope `admin_mode`. */
async function withoutInactiveAdminRights(core: Core, found: Authenticated): Promise<Authenticated> {
  const { user, scopes } = found
  if (user?.isAdministrator !== true || scopes.includes('admin_mode')) return found
  if (!(await settingOf(core, 'admin_mode'))) return found
  return { ...found, user: { ...user, isAdministrator: false } }
}

async function findCredential(core: Core, presented: Presented): Promise<Authenticated | 'unknown' | undefined> {
  const context = readContextOf(core)
  const { bearer, privateToken, jobToken, takesJobTokens } = presented
  const jobOfBearer = bearer === undefined ? undefined : await findByJobTokenText(context, bearer)
  if (jobOfBearer !== undefined && takesJobTokens) return validJobOrUnknown(jobOfBearer)
  const oauth = bearer === undefined ? undefined : await findOAuthToken(core, bearer)
  if (oauth !== undefined) return oauth
  const text = privateToken ?? bearer
  // A job token is ignored, not rejected, in requests that do not accept job tokens.
  if (text !== undefined && !(text === bearer && jobOfBearer !== undefined)) {
    return (await findByAccessTokenText(context, text)) ?? 'unknown'
  }
  if (jobToken !== undefined && takesJobTokens) return validJobOrUnknown(await findByJobTokenText(context, jobToken))
  const { sessionSecret, proof, changesNothing } = presented
  if (sessionSecret === undefined) return undefined
  if (!changesNothing && !isFromOurPage(sessionSecret, proof)) return undefined
  return findSession(core, sessionSecret)
}

const validJobOrUnknown = (job: Authenticated | undefined) => (job?.state === 'valid' ? job : 'unknown')

export type Refusal =
  | 'unauthenticated'
  | 'expired'
  | 'revoked'
  | 'insufficient_scope'
  | 'impersonation_disabled'
  | Exclude<UserState, 'active'>

/**
 * Decides whether a known credential may be used; if so, records its use. The use of a revoked token, even after its expiry
 * date, revokes the tokens that followed it by rotation, because two parties have it and one of them should not.
 *
 * @param accepted a list of scopes, one of which the token must have; `undefined` accepts any scopes
 */
export async function admit(
  core: Core,
  authenticated: Authenticated,
  accepted: readonly string[] | undefined,
): Promise<Refusal | undefined> {
  const refusal = await refusalOf(core, authenticated, accepted)
  if (authenticated.state !== 'valid') await revokeSuccessors(core, authenticated)
  if (refusal === undefined) markUse(core, authenticated)
  return refusal
}

async function refusalOf(
  core: Core,
  { kind, state, scopes, user }: Authenticated,
  accepted: readonly string[] | undefined,
): Promise<Refusal | undefined> {
  if (state !== 'valid') return state
  if (kind === 'personal' && (await settingOf(core, 'disable_personal_access_tokens'))) return 'unauthenticated'
  if (accepted !== undefined && !scopes.some((scope) => accepted.includes(scope))) return 'insufficient_scope'
  if (kind === 'impersonation' && !core.settings.impersonationEnabled) return 'impersonation_disabled'
  if (user === undefined) return 'unauthenticated'
  return user.state === 'active' ? undefined : user.state
}

async function revokeSuccessors(core: Core, authenticated: Authenticated): Promise<void> {
  const id = accessTokenIdOf(authenticated)
  if (id === undefined) return
  if ((await findLiveSuccessorIds({ db: core.db.read }, id)).length === 0) return
  await inTransaction(serviceContext(core), async (tx) => {
    for (const successorId of await findLiveSuccessorIds(tx, id)) {
      await updateAsRevoked(tx, successorId)
      await tx.recordEvent({ type: 'access_token.revoked', objectId: successorId, details: { reusedId: id } })
    }
  })
}
