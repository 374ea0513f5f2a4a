import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { ListenAddress } from '../contract/gateway-config.ts'

export interface AddressBook {
  /** Returns the addresses of a host name; empty if it has none. */
  readonly resolve: (host: string) => Promise<readonly string[]>
  /** Returns the addresses of this machine. */
  readonly local: () => readonly string[]
}

export const systemAddresses: AddressBook = {
  resolve: async (host) => {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address)
    } catch {
      return []
    }
  },
  local: () =>
    Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const anyAddresses = new Set(['0.0.0.0', '::', ''])

/**
 * Returns the one of these listeners that a URL would reach, if any. If the gateway sent its own telemetry there, this
 * would create more telemetry endlessly (O-15). A loop through another host cannot be detected here.
 */
export async function findListenerReachedBy(
  url: URL,
  listeners: readonly ListenAddress[],
  { resolve, local }: AddressBook = systemAddresses,
): Promise<ListenAddress | undefined> {
  const samePort = listeners.filter(({ port }) => port === portOf(url))
  if (samePort.length === 0) return undefined

  const urlAddresses = await addressesOf(url.hostname, resolve)
  for (const listener of samePort) {
    const bound = anyAddresses.has(withoutBrackets(listener.host)) ? local() : await addressesOf(listener.host, resolve)
    const boundToAny = anyAddresses.has(withoutBrackets(listener.host))
    if (urlAddresses.some((address) => bound.includes(address) || (boundToAny && isLocalAddress(address))))
      return listener
  }
  return undefined
}

async function addressesOf(host: string, resolve: AddressBook['resolve']): Promise<readonly string[]> {
  const name = withoutBrackets(host)
  if (isIP(name) !== 0) return [name]
  return resolve(name)
}

/** Returns whether an address reaches this machine. A connection to the unspecified address does. */
function isLocalAddress(address: string): boolean {
  return anyAddresses.has(address) || loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))
