import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { notGlobalReason } from './address-rules.ts'
import type { AllowedHosts } from './allowed-hosts.ts'

/** The rules for URLs that users of the service have typed. They decide which addresses such a URL may lead to. */
export interface AddressPolicy {
  /** Allows loopback, private and all other addresses that are not globally reachable. */
  readonly allowsLocal: boolean
  /** Whether only allowed hosts may be called. */
  readonly deniesOthers: boolean
  /** Excepted from both. */
  readonly allowed: AllowedHosts
  /** Our own origin, which may always be called: `https://svc.example.org:8443`. */
  readonly ownOrigin?: string
}

interface Destination {
  readonly url: URL
  /** All addresses that the host of the URL resolves to. */
  readonly addresses: readonly string[]
}

/** The error for a destination that the policy forbids. The message is for the user who typed the URL. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked'
  readonly code = 'PENSTOCK_BLOCKED'

  constructor(reason: string) {
    super(`URL is blocked: ${reason}`)
  }
}

/**
 * Returns the reason why the policy forbids a destination, or `undefined` if it is allowed. One forbidden address is
 * enough, because the connection may be made to any of them.
 */
export function findBlockReason(policy: AddressPolicy, { url, addresses }: Destination): string | undefined {
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
 * Returns a lookup that resolves names for one connection and passes on only addresses that the policy allows. The
 * connection is made to one of these addresses, so an attacker gains nothing if the name resolves to another address a
 * moment later.
 */
export function guardedLookup(policy: AddressPolicy, url: URL, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        done(error, '')
        return
      }
      const reason = findBlockReason(policy, { url, addresses: found.map(({ address }) => address) })
      if (reason !== undefined) done(new AddressBlocked(reason), '')
      else if (options.all) done(null, found)
      else done(null, found[0]!.address, found[0]!.family)
    })
  }
}
