import { z } from 'zod'
import { unscopedBatchQuery } from '../kit/operation.ts'
import type { AccessLevel } from './access-level.ts'
import { can, canSee } from './can.ts'
import type { Permission } from './permission-table.ts'
import { type Subject, standingsOf } from './subject.ts'

/** The role and the permissions of the actor in a group or project. */
export interface ShownStanding {
  /** The highest role, inherited ones included; 0 for none. */
  readonly level: AccessLevel
  readonly allows: (permission: Permission) => boolean
}

/** Returns the standing of the actor in groups and projects that were found before. */
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
