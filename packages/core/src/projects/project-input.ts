import { z } from 'zod'
import { keysetInput, pageInput } from '../kit/page.ts'
import { clearable, instant, namespaceRef } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import { visibilities } from '../model/access-level.ts'
import { accessLevelInput } from '../model/access-level-input.ts'
import { branchName } from '../repositories/branch-name.ts'
import { projectOrders } from './project-list-store.ts'

const text = z.string().min(1).max(255)
/** Limited, because lists contain it. */
const description = z.string().max(2_000)

export const projectListInput = {
  search: z.string().max(255).optional(),
  visibility: z.enum(visibilities).optional(),
  archived: z.boolean().optional(),
  owned: z.boolean().optional(),
  membership: z.boolean().optional(),
  minAccessLevel: accessLevelInput.optional(),
  lastActivityAfter: instant.optional(),
  lastActivityBefore: instant.optional(),
  orderBy: z.enum(projectOrders).default('created_at'),
  sort: z.enum(['asc', 'desc']).default('desc'),
  idAfter: z.int().optional(),
  idBefore: z.int().optional(),
  ...keysetInput,
  ...pageInput,
}

export type ProjectListInput = z.output<z.ZodObject<typeof projectListInput>>

/**
 * The input of a new project. `namespaceId` is that of a group or of the actor's own namespace, which is the default.
 */
export const projectDraftInput = z
  .object({
    name: text.optional(),
    path: text.optional(),
    namespaceId: z.int().nullish(),
    description: description.nullish(),
    visibility: z.enum(visibilities).default('private'),
    /** The branch of the first commit; any later branch can become the default. */
    defaultBranch: branchName.nullish(),
    requestAccessEnabled: z.boolean().default(true),
    /** Creates the repository with a first commit. */
    initializeWithReadme: z.boolean().default(false),
  })
  .superRefine(({ name, path }, context) => {
    if (name === undefined && path === undefined) context.addIssue(problem('at_least_one', { names: ['name', 'path'] }))
  }, acrossParameters)

export const projectChangesInput = z.object({
  project: namespaceRef,
  name: text.optional(),
  path: text.optional(),
  description: clearable(description),
  visibility: z.enum(visibilities).optional(),
  /** A branch of the repository; any name while the repository is empty. */
  defaultBranch: branchName.optional(),
  requestAccessEnabled: z.boolean().optional(),
})
