import { z } from 'zod'
import { branchName } from '../../base/git/branch-name.ts'
import { keysetInput, pageInput } from '../../base/kit/page.ts'
import { clearable, instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { visibilities } from '../../base/model/access-level.ts'
import { accessLevelInput } from '../../base/model/access-level-input.ts'
import { avatarInput } from '../avatars/avatar.ts'
import { restProjectOrders } from './project-order.ts'
import { settingsInput } from './project-settings-input.ts'

const text = z.string().min(1).max(255)
/** Limited, because lists contain it. */
const description = z.string().max(2_000)
const topicNames = z.array(z.string().max(255)).max(100)

export const projectListInput = {
  search: z.string().max(255).optional(),
  /** Whether `search` also applies to the full path. */
  searchNamespaces: z.boolean().optional(),
  visibility: z.enum(visibilities).optional(),
  archived: z.boolean().optional(),
  /** False lists archived projects only; nothing is ever marked for deletion. */
  active: z.boolean().optional(),
  owned: z.boolean().optional(),
  membership: z.boolean().optional(),
  /** Limits the list to projects that the actor has starred. */
  starred: z.boolean().optional(),
  minAccessLevel: accessLevelInput.optional(),
  /** Only projects with all of these topics. */
  topic: topicNames.optional(),
  withIssuesEnabled: z.boolean().optional(),
  withMergeRequestsEnabled: z.boolean().optional(),
  lastActivityAfter: instant.optional(),
  lastActivityBefore: instant.optional(),
  updatedAfter: instant.optional(),
  updatedBefore: instant.optional(),
  orderBy: z.enum(restProjectOrders).default('created_at'),
  sort: z.enum(['asc', 'desc']).default('desc'),
  idAfter: z.int().optional(),
  idBefore: z.int().optional(),
  /** No project is imported. */
  imported: z.boolean().optional(),
  /** Any value matches nothing, because no project is ever marked for deletion. */
  markedForDeletionOn: z.string().max(255).optional(),
  /** All repositories are in the storage `default`. */
  repositoryStorage: z.string().max(255).optional(),
  ...keysetInput,
  ...pageInput,
}

export type ProjectListInput = z.output<z.ZodObject<typeof projectListInput>>

const attributes = {
  ...settingsInput,
  topics: topicNames.optional(),
  /** The former name of `topics`. */
  tagList: topicNames.optional(),
  avatar: avatarInput,
}

/**
 * The input of a new project. `namespaceId` is that of a group or of the actor's own namespace, which is the default.
 */
export const projectDraftInput = z
  .object({
    name: text.optional(),
    path: text.optional(),
    namespaceId: z.int().nullish(),
    description: description.nullish(),
    visibility: z.enum(visibilities).optional(),
    /** The branch of the first commit; any later branch can become the default. */
    defaultBranch: clearable(branchName),
    requestAccessEnabled: z.boolean().default(true),
    /** Creates the repository with a first commit. */
    initializeWithReadme: z.boolean().default(false),
    ...attributes,
  })
  .superRefine(({ name, path }, context) => {
    if (name === undefined && path === undefined) context.addIssue(problem('at_least_one', { names: ['name', 'path'] }))
  }, acrossParameters)
export type ProjectDraftInput = z.output<typeof projectDraftInput>

export const projectChangesInput = z.object({
  project: namespaceRef,
  name: text.optional(),
  path: text.optional(),
  description: description.nullish(),
  visibility: z.enum(visibilities).optional(),
  /** A branch of the repository; any name while the repository is empty. */
  defaultBranch: branchName.optional(),
  requestAccessEnabled: z.boolean().optional(),
  ...attributes,
})
export type ProjectChangesInput = z.output<typeof projectChangesInput>
