import { type AccessLevel, accessLevels, visibilities } from '@penstock/core'
import { oncePerBuilder } from './once-per-builder.ts'

/** Returns enum values with upper-case names for words of the core. */
export const valuesOf = <Word extends string>(words: readonly Word[]) =>
  Object.fromEntries(words.map((word) => [word.toUpperCase(), { value: word }])) as {
    readonly [Each in Word as Uppercase<Each>]: { readonly value: Each }
  }

/** Splits the value of a sort enum into the input of an operation. */
export function orderIn<By extends string>(
  value: `${By} ${'asc' | 'desc'}` | null | undefined,
): { readonly orderBy?: By; readonly sort?: 'asc' | 'desc' } {
  if (value == null) return {}
  const [orderBy, sort] = value.split(' ') as [By, 'asc' | 'desc']
  return { orderBy, sort }
}

/**
 * The deprecated lower-case names. If a value has two names, the library prints the last one for a default value. These must
 * therefore come last, because GitLab's schema prints its defaults with the old names.
 */
export const oldNames = {
  created_asc: { value: 'created_at asc', deprecationReason: 'Renamed: CREATED_ASC.' },
  created_desc: { value: 'created_at desc', deprecationReason: 'Renamed: CREATED_DESC.' },
  updated_asc: { value: 'updated_at asc', deprecationReason: 'Renamed: UPDATED_ASC.' },
  updated_desc: { value: 'updated_at desc', deprecationReason: 'Renamed: UPDATED_DESC.' },
} as const

export const timeSorts = {
  CREATED_ASC: { value: 'created_at asc' },
  CREATED_DESC: { value: 'created_at desc' },
  UPDATED_ASC: { value: 'updated_at asc' },
  UPDATED_DESC: { value: 'updated_at desc' },
} as const

const memberLevelValues = {
  MINIMAL_ACCESS: { value: accessLevels.minimal },
  GUEST: { value: accessLevels.guest },
  PLANNER: { value: accessLevels.planner },
  REPORTER: { value: accessLevels.reporter },
  SECURITY_MANAGER: { value: accessLevels.securityManager },
  DEVELOPER: { value: accessLevels.developer },
  MAINTAINER: { value: accessLevels.maintainer },
  OWNER: { value: accessLevels.owner },
} as const satisfies Record<string, { readonly value: AccessLevel }>

/** The access level of administrators on GitLab. It is not a role of members. */
const ADMIN = 60

const visibilityValues = Object.fromEntries(visibilities.map((value) => [value, { value }])) as {
  readonly [Name in (typeof visibilities)[number]]: { readonly value: Name }
}

const userTypes = [
  'HUMAN',
  'PROJECT_BOT',
  'SERVICE_ACCOUNT',
  'SERVICE_USER',
  'GHOST',
  'PLACEHOLDER',
  'IMPORT_USER',
  'ALERT_BOT',
  'SUPPORT_BOT',
  'SECURITY_BOT',
  'SECURITY_POLICY_BOT',
  'AUTOMATION_BOT',
  'ADMIN_BOT',
  'VISUAL_REVIEW_BOT',
  'DUO_CODE_REVIEW_BOT',
] as const

/** The enums that several areas use. The value of a sort is a column and a direction: `created_at desc`. */
export const sharedEnums = oncePerBuilder((builder) => ({
  refType: builder.enumType('RefType', {
    description: 'Whether a ref name is a branch or a tag',
    values: ['HEADS', 'TAGS'] as const,
  }),
  sort: builder.enumType('Sort', {
    description: 'Generic sort of the users list',
    values: { ...timeSorts, ...oldNames } as const,
  }),
  visibility: builder.enumType('VisibilityLevelsEnum', { values: visibilityValues }),
  accessLevel: builder.enumType('AccessLevelEnum', {
    description: 'Role names; numeric codes are in AccessLevel.integerValue',
    values: { NO_ACCESS: { value: accessLevels.noAccess }, ...memberLevelValues, ADMIN: { value: ADMIN } } as const,
  }),
  memberAccessLevel: builder.enumType('MemberAccessLevel', {
    description: 'Roles accepted when changing a membership',
    values: memberLevelValues,
  }),
  userType: builder.enumType('UserType', { values: userTypes }),
  memberSort: builder.enumType('MemberSort', {
    values: {
      ACCESS_LEVEL_ASC: { value: 'access_level asc' },
      ACCESS_LEVEL_DESC: { value: 'access_level desc' },
      USER_FULL_NAME_ASC: { value: 'name asc' },
      USER_FULL_NAME_DESC: { value: 'name desc' },
      ...timeSorts,
      ...oldNames,
    } as const,
  }),
  groupSort: builder.enumType('GroupSort', {
    values: {
      CREATED_AT_ASC: { value: 'created_at asc' },
      CREATED_AT_DESC: { value: 'created_at desc' },
      ID_ASC: { value: 'id asc' },
      ID_DESC: { value: 'id desc' },
      NAME_ASC: { value: 'name asc' },
      NAME_DESC: { value: 'name desc' },
      PATH_ASC: { value: 'path asc' },
      PATH_DESC: { value: 'path desc' },
      SIMILARITY: { value: 'similarity desc' },
      UPDATED_AT_ASC: { value: 'updated_at asc' },
      UPDATED_AT_DESC: { value: 'updated_at desc' },
    } as const,
  }),
  namespaceProjectSort: builder.enumType('NamespaceProjectSort', {
    values: {
      ACTIVITY_DESC: { value: 'last_activity_at desc' },
      FULL_PATH_ASC: { value: 'full_path asc' },
      FULL_PATH_DESC: { value: 'full_path desc' },
      PATH_ASC: { value: 'path asc' },
      PATH_DESC: { value: 'path desc' },
      SIMILARITY: { value: 'similarity desc' },
      STORAGE_SIZE_ASC: { value: 'storage_size asc' },
      STORAGE_SIZE_DESC: { value: 'storage_size desc' },
    } as const,
  }),
}))
