import type { Core } from '../kit/context.ts'
import { insertEvent } from '../kit/event.ts'
import { findOAuthToken } from '../oauth/oauth-token.ts'
import { findSession, isFromOurPage, type PageProof } from '../sessions/session.ts'
import type { UserState } from '../users/user.ts'
import { findByAccessTokenText, findLiveSuccessorIds, updateAsRevoked, updateLastUse } from './access-token-store.ts'
import { type Authenticated, accessTokenIdOf } from './authenticated.ts'
import { findByJobTokenText } from './job-token.ts'

/** What a request shows of itself, in whatever protocol; blank ones left out. */
export interface Presented {
  /** Where an OAuth token may stand, which may turn out to be a personal one. */
  readonly bearer?: string | undefined
  readonly privateToken?: string | undefined
  /** Only where a job's token is taken: where it may stand beside `bearer`. */
  readonly jobToken?: string | undefined
  readonly takesJobTokens: boolean
  /** The secret in the cookie. A request that may change something must prove that it comes from a page of ours. */
  readonly sessionSecret?: string | undefined
  readonly proof: PageProof
  readonly changesNothing: boolean
}

/**
 * Who shows it: the first credential that counts, in the order of the specification. `unknown` for one that nobody knows,
 * `undefined` for none.
 *
 * @see spec/rest-part2-details.md 2.1
 */
export async function identify(core: Core, presented: Presented): Promise<Authenticated | 'unknown' | undefined> {
  const found = await findCredential(core, presented)
  return found === undefined || found === 'unknown' ? found : withoutInactiveAdminRights(core, found)
}

/** While admin mode is on, an administrator is one only by what says so itself. @see spec/rest-part2-details.md 2.3 */
function withoutInactiveAdminRights({ settings }: Core, found: Authenticated): Authenticated {
  const { user, scopes } = found
  if (!settings.adminMode || user?.isAdministrator !== true || scopes.includes('admin_mode')) return found
  return { ...found, user: { ...user, isAdministrator: false } }
}

async function findCredential(core: Core, presented: Presented): Promise<Authenticated | 'unknown' | undefined> {
  const context = { db: core.db.read, nowMs: core.clock.nowMs() }
  const { bearer, privateToken, jobToken, takesJobTokens } = presented
  const jobOfBearer = bearer === undefined ? undefined : await findByJobTokenText(context, bearer)
  if (jobOfBearer !== undefined && takesJobTokens) return validJobOrUnknown(jobOfBearer)
  const oauth = bearer === undefined ? undefined : await findOAuthToken(core, bearer)
  if (oauth !== undefined) return oauth
  const text = privateToken ?? bearer
  // A job's token where none is taken is not an error but nothing.
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
 * Whether a credential that is known may be used, and if so marks its use; a revoked one that comes again, even after its
 * last day, ends what has come after it, as one of the two who have it should not.
 *
 * @param accepted any of these scopes suffices; `undefined`: whatever its scopes
 * @see spec/rest-part2-details.md 2.2
 */
export async function admit(
  core: Core,
  authenticated: Authenticated,
  accepted: readonly string[] | undefined,
): Promise<Refusal | undefined> {
  const refusal = refusalOf(core, authenticated, accepted)
  if (authenticated.state !== 'valid') await revokeSuccessors(core, authenticated)
  if (refusal === undefined) markUse(core, authenticated)
  return refusal
}

function refusalOf(
  { settings }: Core,
  { kind, state, scopes, user }: Authenticated,
  accepted: readonly string[] | undefined,
): Refusal | undefined {
  if (state !== 'valid') return state
  if (accepted !== undefined && !scopes.some((scope) => accepted.includes(scope))) return 'insufficient_scope'
  if (kind === 'impersonation' && !settings.impersonationEnabled) return 'impersonation_disabled'
  if (user === undefined) return 'unauthenticated'
  return user.state === 'active' ? undefined : user.state
}

async function revokeSuccessors(core: Core, authenticated: Authenticated): Promise<void> {
  const id = accessTokenIdOf(authenticated)
  if (id === undefined) return
  if ((await findLiveSuccessorIds({ db: core.db.read }, id)).length === 0) return
  await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    for (const successorId of await findLiveSuccessorIds(tx, id)) {
      await updateAsRevoked(tx, successorId)
      await insertEvent(tx, { type: 'access_token.revoked', objectId: successorId, details: { reusedId: id } })
    }
  })
}

const LAST_USE_INTERVAL_MS = 60_000
/** Ids whose use is being written, so that a crowd of requests asks for one write and not for one each. */
const marking = new WeakMap<Core, Set<number>>()

/** Nobody waits for it, and a mark that fails is made by a later request. */
function markUse(core: Core, authenticated: Authenticated): void {
  const { lastUsedAtMs = Number.NEGATIVE_INFINITY } = authenticated
  const id = accessTokenIdOf(authenticated)
  if (id === undefined) return
  if (core.clock.nowMs() - lastUsedAtMs < LAST_USE_INTERVAL_MS) return
  const ids = marking.get(core) ?? new Set()
  marking.set(core, ids)
  if (ids.has(id)) return
  ids.add(id)
  core.db
    .write((db) => updateLastUse({ db, nowMs: core.clock.nowMs() }, id))
    .catch(() => {})
    .finally(() => ids.delete(id))
}
