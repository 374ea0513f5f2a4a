import type { CoreSettings } from '@penstock/core'

/** Where something is found with a browser: whole, or as a path on the service's host. */
export interface WebAddress {
  readonly url: (path: string) => string
  readonly path: (path: string) => string
}

/** Of a service that may lie below a path of its host. */
export function webAddressOf({ externalUrl }: Pick<CoreSettings, 'externalUrl'>): WebAddress {
  const root = new URL(externalUrl).pathname.replace(/\/$/, '')
  return { url: (path) => `${externalUrl}/${path}`, path: (path) => `${root}/${path}` }
}

/** A path, or a ref, as part of an address. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')
