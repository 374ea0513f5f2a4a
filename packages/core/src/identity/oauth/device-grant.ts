import { DomainError } from '../../base/kit/domain-error.ts'
import type { Actor } from '../../base/model/user.ts'
import { type CallLimit, countCall } from '../../base/operations/call-limit.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { scopesWithin } from '../tokens/scope.ts'
import type { Application } from './application.ts'
import { findApplicationById } from './application-store.ts'
import { type ClientCredentials, requireClient } from './client.ts'
import {
  CODE_LIFETIME_SECONDS,
  type DeviceCode,
  deleteExpiredDeviceCodes,
  FIRST_POLL_INTERVAL_SECONDS,
  findUndecided,
  hasDeviceCodes,
  type IssuedDeviceCode,
  insertDeviceCode,
  storeDecision,
} from './device-code-store.ts'
import { grantedScopes } from './granted-scopes.ts'

// The grant for devices without a browser: the device shows a user code, which a user enters on a page of this service.
// @see RFC 8628

/** The limit of stored codes. They live for minutes, and the requests of each address are limited. */
const MAX_CODES = 10_000
/** The chance that a user code is in use is tiny even at the limit. */
const MAX_TRIES = 5

const startLimit: CallLimit = { name: 'oauth_device_start', per: ['address'], periodSeconds: 60, count: 30 }
/** Limits how many of the 20^8 possible user codes can be tried. */
const guessLimits: readonly CallLimit[] = [
  { name: 'oauth_device_guess', per: ['user'], periodSeconds: 600, count: 10 },
  { name: 'oauth_device_guess_from', per: ['address'], periodSeconds: 600, count: 100 },
]

export interface DeviceRequest extends ClientCredentials {
  readonly scope?: string | undefined
  /** The IP address of the device. */
  readonly address: string
}

export interface StartedDeviceGrant extends IssuedDeviceCode {
  readonly expiresInSeconds: number
  /** The least time between two polls. */
  readonly intervalSeconds: number
}

/**
 * Begins a grant for a device.
 *
 * @throws OAuthRefusal; DomainError `too_often`
 */
export async function startDeviceGrant(core: Core, request: DeviceRequest): Promise<StartedDeviceGrant> {
  const application = await requireClient(readContextOf(core), request)
  const scopes = grantedScopes(request.scope, application.scopes)
  await count(core, undefined, request.address, [startLimit])
  const issued = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    await deleteExpiredDeviceCodes(tx)
    if (await hasDeviceCodes(tx, MAX_CODES)) return undefined
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const codes = await insertDeviceCode(tx, core, { applicationId: application.id, scopes })
      if (codes !== undefined) return codes
    }
    return undefined
  })
  if (issued === undefined) throw new DomainError({ code: 'too_often', retryAfterSeconds: CODE_LIFETIME_SECONDS })
  return { ...issued, expiresInSeconds: CODE_LIFETIME_SECONDS, intervalSeconds: FIRST_POLL_INTERVAL_SECONDS }
}

/** The consent that a user is asked for after entering a user code. */
export interface DeviceConsent {
  readonly userCode: string
  readonly application: Application
  readonly scopes: readonly string[]
}

/** A user who enters a user code in the browser. */
export interface DeviceUser {
  readonly user: NonNullable<Actor>
  readonly signedInAtMs: number
  /** The IP address of the browser. */
  readonly address: string
}

/**
 * Finds the request of a device; `undefined` if no device has this code, or it has expired.
 *
 * @param userCode the code as typed: case, blanks and hyphens make no difference
 * @throws DomainError `too_often` after too many codes
 */
export async function findDeviceConsent(
  core: Core,
  { user, address }: DeviceUser,
  userCode: string,
): Promise<DeviceConsent | undefined> {
  await count(core, user, address, guessLimits)
  const context = readContextOf(core)
  const found = await findUndecided(context, normalized(userCode))
  const application = found && (await findApplicationById(context, found.applicationId))
  return found && application && consentOf(found, application, user)
}

/**
 * Stores the decision of a user. Returns whether a device was waiting for it.
 *
 * @throws DomainError `too_often` after too many codes
 */
export async function decideDeviceConsent(
  core: Core,
  { user, signedInAtMs: authTimeMs, address }: DeviceUser,
  userCode: string,
  decision: 'allowed' | 'denied',
): Promise<boolean> {
  await count(core, user, address, guessLimits)
  return core.db.write(async (db) => {
    const found = await findUndecided({ db, nowMs: core.clock.nowMs() }, normalized(userCode))
    if (found === undefined) return false
    await storeDecision({ db }, found, { decision, userId: user.id, authTimeMs })
    return true
  })
}

const consentOf = (
  { userCode, scopes }: DeviceCode,
  application: Application,
  user: NonNullable<Actor>,
): DeviceConsent => ({ userCode, application, scopes: scopesWithin(scopes, user) })

const normalized = (userCode: string): string => userCode.replaceAll(/[\s-]/g, '').toUpperCase().slice(0, 64)

const count = (core: Core, actor: Actor, address: string, limits: readonly CallLimit[]): Promise<void> =>
  countCall(limits, {
    context: { ...readContextOf(core), core, actor, request: { address } },
    input: undefined,
    authorize: undefined,
  })
