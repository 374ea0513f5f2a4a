import { z } from 'zod'
import { isRefName } from './repository-path.ts'

/** The name of a branch to create, store or refer to later; a name that Git rejects is `invalid`. */
export const branchName = z.string().trim().min(1, { abort: true }).refine(isRefName)
