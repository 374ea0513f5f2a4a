import type { UserKind } from '@penstock/core'

/** Maps GitLab's user types to the user kinds of the core. Types without a kind match no user. */
const kindOf: Readonly<Record<string, UserKind>> = { HUMAN: 'human', PROJECT_BOT: 'project_bot' }

export const userKindsIn = (types: readonly string[] | null | undefined): UserKind[] | undefined =>
  types?.flatMap((type) => kindOf[type] ?? [])
