import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { type Address, parseAddress, reachedAddresses } from './reached-addresses.ts'

interface AddressRule {
  holds(address: Address): boolean
  readonly reason: string
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

const isIn = (...cidrs: readonly string[]): ((address: Address) => boolean) => {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr) as Range)
  return (address) => ranges.some((range) => isInRange(address, range))
}

export const isInRange = (address: Address, range: Range): boolean =>
  address.kind() === range[0].kind() && address.match(range as [ipaddr.IPv4, number] & [ipaddr.IPv6, number])

const isUnspecified = isIn('0.0.0.0/32', '::/128')

/** Returns whether the address is one of this host. Interfaces come and go, so they are listed again for every address. */
function isOfThisHost(address: Address): boolean {
  const text = address.toNormalizedString()
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((own) => !own.internal && parseAddress(own.address)?.toNormalizedString() === text),
  )
}

/**
 * Returns whether an IPv6 address is in the only range that is allocated; all others are
 * unreachable or in a private network.
 */
const isAllocated = isIn('0.0.0.0/0', '2000::/3')

/**
 * The rules that forbid addresses. The first matching rule gives the reason. An address without a matching rule is
 * globally reachable unicast.
 */
const addressRules: readonly AddressRule[] = [
  {
    holds: (address) => isUnspecified(address) || isOfThisHost(address),
    reason: 'Requests to localhost are not allowed',
  },
  { holds: isIn('127.0.0.0/8', '::1/128'), reason: 'Requests to loopback addresses are not allowed' },
  {
    holds: isIn('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fec0::/10', 'fc00::/7'),
    reason: 'Requests to the local network are not allowed',
  },
  { holds: isIn('169.254.0.0/16', 'fe80::/10'), reason: 'Requests to the link local network are not allowed' },
  { holds: isIn('100.64.0.0/10'), reason: 'Requests to the shared address space are not allowed' },
  { holds: isIn('255.255.255.255/32'), reason: 'Requests to the limited broadcast address are not allowed' },
  {
    holds: (address) => !isAllocated(address) || address.range() !== 'unicast',
    reason: 'Requests to reserved addresses are not allowed',
  },
]

/**
 * Returns why an address is not globally reachable unicast; `undefined` if it is. An IPv6 address that represents IPv4
 * addresses is judged by these.
 */
export function notGlobalReason(address: string): string | undefined {
  const reached = reachedAddresses(address)
  if (reached.length === 0) return 'Hostname or IP address invalid'
  return addressRules.find(({ holds }) => reached.some(holds))?.reason
}
