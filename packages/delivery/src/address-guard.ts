import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { notGlobalReason } from './address-rules.ts'
import type { AllowedHosts } from './allowed-hosts.ts'

/** What a URL that somebody else has typed may make us connect to. */
export interface AddressPolicy {
  /** Loopback, private and all other addresses that are not globally reachable are allowed. */
  readonly allowsLocal: boolean
  /** Only the allowed ones may be called. */
  readonly deniesOthers: boolean
  /** Excepted from both. */
  readonly allowed: AllowedHosts
  /** Our own origin, which may always be called: `https://svc.example.org:8443`. */
  readonly ownOrigin?: string
}

interface Destination {
  readonly url: URL
  /** Everything its host resolves to. */
  readonly addresses: readonly string[]
}

/** The policy forbids it. The message is for the person who typed the URL. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked'
  readonly code = 'PENSTOCK_BLOCKED'

  constructor(reason: string) {
    super(`URL is blocked: ${reason}`)
  }
}

/**
 * Returns why the policy forbids a destination, or `undefined` if it does not. One address that is forbidden is enough.
 *
 * @see spec/rest-part3-details.md 1.14
 */
export function blockedBecause(policy: AddressPolicy, { url, addresses }: Destination): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only allowed schemes are http, https'
  if (url.origin === policy.ownOrigin) return undefined
  if (policy.allowed.has(url, addresses)) return undefined
  if (policy.deniesOthers) return 'Requests to hosts and IP addresses not on the Allow List are denied'
  if (policy.allowsLocal) return undefined
  for (const address of addresses) {
    const reason = notGlobalReason(address)
    if (reason !== undefined) return reason
  }
  return undefined
}

/**
 * Resolves names for one connection, and passes on only what the policy allows. The connection is made to these very
 * addresses, so a name that resolves to something else a moment later gains nothing.
 */
export function guardedLookup(policy: AddressPolicy, url: URL, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        done(error, '')
        return
      }
      const reason = blockedBecause(policy, { url, addresses: found.map(({ address }) => address) })
      if (reason !== undefined) done(new AddressBlocked(reason), '')
      else if (options.all) done(null, found)
      else done(null, found[0]!.address, found[0]!.family)
    })
  }
}
