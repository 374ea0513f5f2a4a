import type { CoreSettings } from '@penstock/core'

/** Builds browser addresses: absolute URLs, or paths on the host of the service. */
export interface WebAddress {
  readonly url: (path: string) => string
  readonly path: (path: string) => string
}

/** Returns the address builder for a service, which may be served below a path of its host. */
export function webAddressOf({ externalUrl }: Pick<CoreSettings, 'externalUrl'>): WebAddress {
  const root = new URL(externalUrl).pathname.replace(/\/$/, '')
  return { url: (path) => `${externalUrl}/${path}`, path: (path) => `${root}/${path}` }
}

/** Encodes a file path or a ref for use in an address. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
