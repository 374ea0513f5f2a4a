import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A form of IPv6 addresses that contain IPv4 addresses, and how to read them. */
interface Embedding {
  readonly range: [ipaddr.IPv6, number]
  read(bytes: readonly number[]): readonly (readonly number[])[]
}

const range = (cidr: string) => ipaddr.IPv6.parseCIDR(cidr)
const inLastBytes = (bytes: readonly number[]) => [bytes.slice(12)]

/**
 * Returns the readings of a translated address with an unknown prefix length (RFC 6052, 2.2). The unused bits of a
 * layout must be zero, so layouts for which the address has other bits set there are left out.
 */
function readTranslated(bytes: readonly number[]): readonly (readonly number[])[] {
  return [
    { at: [6, 7, 9, 10], unused: [8, 11, 12, 13, 14, 15] },
    { at: [7, 9, 10, 11], unused: [8, 12, 13, 14, 15] },
    { at: [9, 10, 11, 12], unused: [8, 13, 14, 15] },
    { at: [12, 13, 14, 15], unused: [] },
  ]
    .filter(({ at, unused }) => unused.every((index) => bytes[index] === 0) && at.some((index) => bytes[index] !== 0))
    .map(({ at }) => at.map((index) => bytes[index]!))
}

/** The forms of IPv6 addresses that represent IPv4 addresses, or that are reached through them. */
const embeddings: readonly Embedding[] = [
  // IPv4-mapped, and IPv4-translated (RFC 2765).
  { range: range('::ffff:0:0/96'), read: inLastBytes },
  { range: range('::ffff:0:0:0/96'), read: inLastBytes },
  // IPv4-compatible; `::` and `::1` are in this range too, but are real IPv6 addresses.
  { range: range('::/96'), read: inLastBytes },
  // NAT64: the well-known prefix, and the one for local use.
  { range: range('64:ff9b::/96'), read: inLastBytes },
  { range: range('64:ff9b:1::/48'), read: readTranslated },
  // 6to4
  { range: range('2002::/16'), read: (bytes) => [bytes.slice(2, 6)] },
  // Teredo: the server, and the client with its bits inverted.
  { range: range('2001::/32'), read: (bytes) => [bytes.slice(4, 8), bytes.slice(12).map((byte) => byte ^ 0xff)] },
]

const ownAddresses = [range('::/128'), range('::1/128')]

/** Returns the IPv4 address of an ISATAP interface (RFC 5214), which may follow any prefix. */
function isatapAddress(bytes: readonly number[]): ipaddr.IPv4 | undefined {
  const [first, ...rest] = bytes.slice(8, 12)
  const isIsatap = (first === 0 || first === 2) && rest.join() === '0,94,254'
  return isIsatap ? new ipaddr.IPv4(bytes.slice(12)) : undefined
}

/**
 * Returns the addresses that a connection to `address` reaches: itself, or the IPv4 addresses it represents. An ISATAP
 * address reaches itself and an IPv4 address. Returns an empty list for a text that is no address.
 */
export function reachedAddresses(address: string): readonly Address[] {
  const parsed = parseAddress(address)
  if (parsed === undefined || parsed instanceof ipaddr.IPv4) return parsed === undefined ? [] : [parsed]
  if (ownAddresses.some((own) => parsed.match(own))) return [parsed]
  const bytes = parsed.toByteArray()
  const embedding = embeddings.find((row) => parsed.match(row.range))
  if (embedding !== undefined) return embedding.read(bytes).map((inner) => new ipaddr.IPv4([...inner]))
  const inner = isatapAddress(bytes)
  return inner === undefined ? [parsed] : [parsed, inner]
}

/** Returns the address that the text represents in the usual notation, else `undefined`. */
export function parseAddress(address: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address)
  return address.includes(':') && ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address) : undefined
}
