import { isIP } from 'node:net'

/** Returns whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isAddressOrNetwork(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
}

/** The rule for addresses and networks that are separated by commas. */
export const networkList = (value: string): string | false =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .some((entry) => entry !== '' && !isAddressOrNetwork(entry)) && 'must be a valid IP address or CIDR list'
