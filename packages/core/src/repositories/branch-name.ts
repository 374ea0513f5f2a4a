import { z } from 'zod'
import { isRefName } from './repository-path.ts'

/** The parameter that names a branch which is created, stored or referred to later; what Git would not take is `invalid`. */
export const branchName = z.string().trim().min(1, { abort: true }).refine(isRefName)
