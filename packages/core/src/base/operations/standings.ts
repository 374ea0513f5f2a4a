import { z } from 'zod'
import { can, canSee } from '../access/can.ts'
import type { Permission } from '../access/permission-table.ts'
import { type Subject, standingsOf } from '../access/subject.ts'
import type { AccessLevel } from '../model/access-level.ts'
import { unscopedBatchQuery } from './operation.ts'

/** The role and the permissions of the actor in a group or project. */
export interface ShownStanding {
  /** The highest role, inherited ones included; 0 for none. */
  readonly level: AccessLevel
  readonly allows: (permission: Permission) => boolean
}

/** Returns the standing of the actor in groups and projects that the caller has already read. */
export const showStandings = unscopedBatchQuery(
  { name: 'showStandings', input: z.object({}) },
  async (context, subjects: readonly Subject[]): Promise<ShownStanding[]> => {
    const standings = await standingsOf(context, context.actor, subjects)
    return standings.map((standing) => ({
      level: standing.level,
      allows: (permission) => canSee(standing) && can(standing, permission),
    }))
  },
)
