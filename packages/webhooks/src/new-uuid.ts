import type { Core } from '@penstock/core'

/** Returns a UUID of version 4. */
export function newUuid({ randomBytes }: Pick<Core, 'randomBytes'>): string {
  const bytes = Buffer.from(randomBytes(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
