/** The codes of roles. A higher role includes the lower ones, except where the permission table says otherwise. */
export const accessLevels = {
  noAccess: 0,
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  securityManager: 25,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const
export type AccessLevel = (typeof accessLevels)[keyof typeof accessLevels]

/** The roles that a member can have. */
export const memberLevels = Object.values(accessLevels).filter((level) => level > 0) as readonly AccessLevel[]

export const visibilities = ['private', 'internal', 'public'] as const
export type Visibility = (typeof visibilities)[number]
