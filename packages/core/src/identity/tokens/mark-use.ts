import { dayAt } from '../../base/kit/day.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { updateLastActivity } from '../users/user-store.ts'
import { updateLastUse } from './access-token-store.ts'
import { type Authenticated, accessTokenIdOf } from './authenticated.ts'

const LAST_USE_INTERVAL_MS = 60_000

/**
 * Records in the background that a credential was used and that its user was active: the former at most once a minute,
 * the latter at most once a day.
 */
export function markUse(core: Core, authenticated: Authenticated): void {
  const nowMs = core.clock.nowMs()
  const { user, lastUsedAtMs = Number.NEGATIVE_INFINITY } = authenticated
  const tokenId = accessTokenIdOf(authenticated)
  if (tokenId !== undefined && nowMs - lastUsedAtMs >= LAST_USE_INTERVAL_MS) {
    writeOnce(core, `token ${tokenId}`, (tx) => updateLastUse(tx, tokenId))
  }
  if (user !== undefined && user.lastActivityOn !== dayAt(nowMs)) {
    writeOnce(core, `user ${user.id}`, (tx) => updateLastActivity(tx, user.id))
  }
}

/** The keys of the writes that are under way. */
const underWay = new WeakMap<Core, Set<string>>()

/** Writes unless a write with this key is under way. If it fails, a later request repeats it. */
function writeOnce(core: Core, key: string, write: (tx: Pick<Tx, 'db' | 'nowMs'>) => Promise<void>): void {
  const keys = underWay.get(core) ?? new Set()
  underWay.set(core, keys)
  if (keys.has(key)) return
  keys.add(key)
  core.db
    .write((db) => write({ db, nowMs: core.clock.nowMs() }))
    .catch(() => {})
    .finally(() => keys.delete(key))
}
