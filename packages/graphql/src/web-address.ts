import type { Kit } from './kit.ts'

/** Where something is found with a browser: whole, or as a path on the service's host. */
export interface WebAddress {
  readonly url: (path: string) => string
  readonly path: (path: string) => string
}

export function webAddressOf({ settings: { externalUrl } }: Pick<Kit, 'settings'>): WebAddress {
  const root = new URL(externalUrl).pathname.replace(/\/$/, '')
  return { url: (path) => `${externalUrl}/${path}`, path: (path) => `${root}/${path}` }
}
