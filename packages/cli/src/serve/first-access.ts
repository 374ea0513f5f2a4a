import { randomBytes } from 'node:crypto'
import { ApiError, createSignInCode, ensureFirstAdminKey } from '@penstock/gateway'
import type { Clock } from '@penstock/runtime'
import type { Settings } from '../settings/setting-table.ts'
import type { Started } from './banner.ts'
import { type GatewayStore, operatorContext } from './operator.ts'

type Store = Pick<GatewayStore, 'db' | 'peppers'>

/**
 * Creates the first Admin key of a new database, and a sign-in code. Call it only after everything listens: a failed start must not
 * create a key that is never shown.
 *
 * @param isForPerson whether the start is for a person also if the database is not new. Other starts get no code: the output of a service
 *   in production is kept in logs
 */
export async function firstAccess(
  store: Store,
  { settings, isForPerson }: { readonly settings: Settings; readonly isForPerson: boolean },
  clock: Clock,
): Promise<Pick<Started, 'firstKey' | 'signInCode'>> {
  const firstKey = await ensureFirstAdminKey(store.db, store.peppers, {
    configuredKey: settings.obsApiKey,
    nowMs: clock.nowMs(),
    randomBytes,
  })
  const needsCode = isForPerson || firstKey !== undefined
  return { firstKey, signInCode: needsCode ? await newSignInCode(store, settings, clock) : undefined }
}

/** Returns a code for the first Admin key; `undefined` if there is no Admin key. */
async function newSignInCode(store: Store, settings: Settings, clock: Clock): Promise<string | undefined> {
  const propagates = () => Promise.resolve({ instances: 0, applied: 0 })
  try {
    return await createSignInCode(operatorContext(store, settings, clock, propagates))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'api_key_not_found') return undefined
    throw error
  }
}
