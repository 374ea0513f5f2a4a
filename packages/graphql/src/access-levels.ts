import {
  type AccessLevel,
  type Permission,
  roleNames,
  type ShownStanding,
  type Subject,
  showStandings,
} from '@penstock/core'
import type { FieldRef } from '@pothos/core'
import { sharedEnums } from './enums.ts'
import type { Kit } from './kit.ts'
import { ask, type RequestContext } from './request-context.ts'
import type { FieldsOf, Types } from './schema-types.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    AccessLevel: AccessLevel
  }
}

/** What the caller is and may do in a group or project, asked with those of the other parents. */
export const standingIn = (subject: Subject, context: RequestContext): Promise<ShownStanding> =>
  ask(context, showStandings, subject)

/** What the fields of a permissions type stand for. `never`: nobody may, there being nothing of the kind in this service. */
export type PermissionFields = Readonly<Record<string, Permission | 'never'>>

/** Whether the caller may, each by its name; without a standing they may nothing. */
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

/** @see spec/graphql-contract.md 5.1 */
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
