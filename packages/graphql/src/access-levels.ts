import {
  type AccessLevel,
  type Permission,
  roleNames,
  type ShownStanding,
  type Subject,
  showStandings,
} from '@penstock/core'
import { sharedEnums } from './enums.ts'
import type { Kit } from './kit.ts'
import { ask, type RequestContext } from './request-context.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    AccessLevel: AccessLevel
  }
}

/** What the caller is and may do in a group or project, asked with those of the other parents. */
export const standingIn = async (context: RequestContext, subject: Subject): Promise<ShownStanding> =>
  (await ask(context, showStandings, subject))!

/**
 * By the names of GraphQL: what a member of a permissions type stands for. `never`: nobody may, there being nothing of the
 * kind in this service.
 */
export type PermissionFields<Field extends string> = Readonly<Record<Field, Permission | 'never'>>

export const answerOf = ({ allows }: ShownStanding, permission: Permission | 'never'): boolean =>
  permission !== 'never' && allows(permission)

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
