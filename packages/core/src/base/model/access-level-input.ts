import { z } from 'zod'
import { problem } from '../kit/parse-input.ts'
import { type AccessLevel, memberLevels } from './access-level.ts'

/** The code of a role that a member can have. */
export const accessLevelInput = z
  .int()
  .superRefine((level, context) => {
    if (!memberLevels.includes(level as AccessLevel)) context.addIssue(problem('unknown_value'))
  })
  .transform((level) => level as AccessLevel)
