/** The result for sources that are not IP addresses, such as a socket file or an invalid value from a proxy. */
const UNKNOWN_NETWORK = 'unknown'

/**
 * Returns the network of an address as text: the IPv4 /24 (`192.0.2.0/24`) or the IPv6 /64 (`2001:db8:0:7::/64`). An
 * IPv4-mapped IPv6 address (`::ffff:192.0.2.7`, `::ffff:c000:207`) is treated as IPv4.
 */
export function networkOf(source: string): string {
  const address = subscriberOf(source)
  return address.indexOf(':') < 0 && address !== UNKNOWN_NETWORK
    ? `${address.slice(0, address.lastIndexOf('.'))}.0/24`
    : address
}

/**
 * Returns the key by which limits count a source: the IPv4 address (`192.0.2.7`), or the IPv6 /64 (`2001:db8:0:7::/64`),
 * because one subscriber can use any address within a /64.
 */
export function subscriberOf(source: string): string {
  if (source.indexOf(':') < 0) return isIpv4(source) ? source : UNKNOWN_NETWORK
  const groups = ipv6Groups(source)
  if (groups === undefined) return UNKNOWN_NETWORK
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMapped) return [groups[6]! >> 8, groups[6]! & 0xff, groups[7]! >> 8, groups[7]! & 0xff].join('.')
  let kept = 4
  while (kept > 0 && groups[kept - 1] === 0) kept -= 1
  return `${groups
    .slice(0, kept)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

function isIpv4(text: string): boolean {
  let octet = -1
  let dots = 0
  if (text.length > 15) return false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === 0x2e) {
      if (octet < 0) return false
      dots += 1
      octet = -1
    } else {
      if (code < 0x30 || code > 0x39) return false
      octet = Math.max(octet, 0) * 10 + (code - 0x30)
      if (octet > 255) return false
    }
  }
  return dots === 3 && octet >= 0
}

/** Returns all eight groups of an IPv6 address, or `undefined` if the source is not one. A zone (`%eth0`) is ignored. */
function ipv6Groups(source: string): number[] | undefined {
  if (source.length > 64) return undefined
  const zone = source.indexOf('%')
  const address = withoutDottedTail(zone < 0 ? source : source.slice(0, zone))
  if (address === undefined) return undefined
  const gap = address.indexOf('::')
  if (gap < 0) {
    const groups = parsedGroups(address)
    return groups?.length === 8 ? groups : undefined
  }
  const head = parsedGroups(address.slice(0, gap))
  const tail = parsedGroups(address.slice(gap + 2))
  if (head === undefined || tail === undefined || head.length + tail.length > 7) return undefined
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** Converts `::ffff:192.0.2.7` to `::ffff:c000:207`. Returns `undefined` if the dotted part is invalid. */
function withoutDottedTail(address: string): string | undefined {
  if (address.indexOf('.') < 0) return address
  const start = address.lastIndexOf(':') + 1
  const dotted = address.slice(start)
  if (!isIpv4(dotted)) return undefined
  const [a, b, c, d] = dotted.split('.').map(Number) as [number, number, number, number]
  return `${address.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function parsedGroups(text: string): number[] | undefined {
  if (text === '') return []
  const groups = text.split(':').map((group) => (/^[0-9a-f]{1,4}$/i.test(group) ? Number.parseInt(group, 16) : -1))
  return groups.includes(-1) ? undefined : groups
}
