import {
  type AccessLevel,
  type Permission,
  roleNames,
  type ShownStanding,
  type Subject,
  showStandings,
} from '@penstock/core'
import type { FieldRef } from '@pothos/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import type { FieldsOf, Types } from '../../schema/schema-types.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    AccessLevel: AccessLevel
  }
}

/**
 * Returns the role and permissions of the caller in a group or project. All groups and projects of a request are loaded
 * together.
 */
export const standingIn = (subject: Subject, context: RequestContext): Promise<ShownStanding> =>
  loadBatched(context, showStandings, subject)

/** The permission behind each field of a permissions type; `never` for features that this service does not have. */
export type PermissionFields = Readonly<Record<string, Permission | 'never'>>

/** Defines the fields of a permissions type. All are false if `standingOf` returns `undefined`. */
export const permissionFields = <Parent>(
  t: FieldsOf<Parent>,
  table: PermissionFields,
  standingOf: (parent: Parent, context: RequestContext) => Promise<Pick<ShownStanding, 'allows'> | undefined>,
): Record<string, FieldRef<Types, boolean>> =>
  Object.fromEntries(
    Object.entries(table).map(([field, permission]) => [
      field,
      t.boolean({
        nullable: false,
        resolve: async (parent: Parent, _args: object, context: RequestContext) =>
          permission !== 'never' && (await standingOf(parent, context))?.allows(permission) === true,
      }),
    ]),
  )

export function addAccessLevels(kit: Kit): void {
  kit.builder.objectType('AccessLevel', {
    description: 'One role: text shown to people, code, enum',
    fields: (t) => ({
      humanAccess: t.string({ resolve: (level) => roleNames[level] }),
      integerValue: t.int({ resolve: (level) => level }),
      stringValue: t.field({ type: sharedEnums(kit).accessLevel, resolve: (level) => level }),
    }),
  })
}
