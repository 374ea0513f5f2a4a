import type { UserKind } from '@penstock/core'

/** Of the platform's types of users, which are the kinds that there are here; the others match nobody. */
const kindOf: Readonly<Record<string, UserKind>> = { HUMAN: 'human', PROJECT_BOT: 'project_bot' }

export const userKindsIn = (types: readonly string[] | null | undefined): UserKind[] | undefined =>
  types?.flatMap((type) => kindOf[type] ?? [])
