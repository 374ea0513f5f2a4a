import type { z } from 'zod'

/**
 * Returns the members of a branch protection, for a schema. They have the names of the REST API, because clients get the
 * object back as they sent it.
 */
export const branchProtectionMembers = <Levels extends z.ZodType, Flag extends z.ZodType>(
  levels: Levels,
  flag: Flag,
) => ({
  allowed_to_push: levels,
  allow_force_push: flag,
  allowed_to_merge: levels,
  developer_can_initial_push: flag,
  code_owner_approval_required: flag,
})
