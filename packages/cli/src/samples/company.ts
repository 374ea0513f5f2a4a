import type { accessLevels, Visibility } from '@penstock/core'

interface Person {
  readonly username: string
  readonly name: string
  /** The role of the user in the group named by `of`, and in all its subgroups. */
  readonly role: keyof typeof accessLevels
  readonly of: string
}

interface Place {
  /** The full path. The parent is listed first. */
  readonly path: string
  readonly name: string
  readonly visibility: Visibility
  readonly description: string
}

export const COMPANY = 'mossgate'
/** The username of the owner and creator of the workspace. */
export const FOUNDER = 'ines'
/** The username of the user who requests access to the shown project. */
export const REQUESTER = 'otto'
/** The group with wiki pages. */
export const WIKI_GROUP = 'mossgate/shop'
/** The project with the pipelines that the start banner links to. */
export const SHOWN_PROJECT = 'mossgate/shop/storefront'

/** The users of the workspace, with at least one for each role. */
export const people: readonly Person[] = [
  { username: FOUNDER, name: 'Inês Okafor', role: 'owner', of: 'mossgate' },
  { username: 'amara', name: 'Amara Diallo', role: 'maintainer', of: 'mossgate/platform' },
  { username: 'jonas', name: 'Jonas Lindqvist', role: 'maintainer', of: 'mossgate/lockers' },
  { username: 'priya', name: 'Priya Raman', role: 'developer', of: 'mossgate/shop' },
  { username: 'tomasz', name: 'Tomasz Wilk', role: 'developer', of: 'mossgate/lockers' },
  { username: 'yuki', name: 'Yuki Tanabe', role: 'securityManager', of: 'mossgate' },
  { username: 'leila', name: 'Leila Haddad', role: 'reporter', of: 'mossgate' },
  { username: 'bram', name: 'Bram Visser', role: 'planner', of: 'mossgate/shop' },
  { username: 'dana', name: 'Dana Kovač', role: 'guest', of: 'mossgate' },
  { username: 'otto', name: 'Otto Brandt', role: 'minimal', of: 'mossgate' },
]

export const groups: readonly Place[] = [
  { path: COMPANY, name: 'Mossgate', visibility: 'public', description: 'Parcel lockers for small towns' },
  { path: 'mossgate/shop', name: 'Shop', visibility: 'public', description: 'What customers see' },
  { path: 'mossgate/lockers', name: 'Lockers', visibility: 'internal', description: 'What stands in the street' },
  { path: 'mossgate/lockers/devices', name: 'Devices', visibility: 'private', description: 'Doors, scales, cameras' },
  { path: 'mossgate/platform', name: 'Platform', visibility: 'internal', description: 'What the others build upon' },
]

export const projects: readonly Place[] = [
  { path: SHOWN_PROJECT, name: 'storefront', visibility: 'public', description: 'Find a locker, send a parcel' },
  {
    path: 'mossgate/shop/checkout',
    name: 'checkout',
    visibility: 'internal',
    description: 'Prices, vouchers, receipts',
  },
  { path: 'mossgate/lockers/hub', name: 'hub', visibility: 'internal', description: 'Talks to every locker' },
  {
    path: 'mossgate/lockers/devices/door-firmware',
    name: 'door-firmware',
    visibility: 'private',
    description: 'Opens one door, and only that one',
  },
  {
    path: 'mossgate/platform/ci-images',
    name: 'ci-images',
    visibility: 'internal',
    description: 'Images that jobs run in',
  },
  { path: 'mossgate/platform/sites', name: 'sites', visibility: 'private', description: 'Where everything runs' },
]
