import { z } from 'zod'
import {
  hasText,
  id,
  int,
  matches,
  maxCharacters,
  maxLength,
  type ObjectOf,
  oneOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { clearable, instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { User } from '../../base/model/user.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'
import type { Commit } from '../../code/repositories/commit.ts'
import type { DescribedMilestone } from '../milestones/milestone.ts'

const MAX_DESCRIPTION = 1_000_000
/** The most links of one release. */
export const MAX_LINKS = 100
const MAX_MILESTONES = 100

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const

/** The fields of a release that a user sets. */
export const releaseDraft = {
  name: text('name').check(maxCharacters(255)).optional(),
  description: text('description').check(maxCharacters(MAX_DESCRIPTION)).optional(),
}
export const releaseFields = {
  id: id(),
  projectId: int('project_id'),
  tag: text('tag'),
  ...releaseDraft,
  authorId: int('author_id').optional(),
  /** The commit that the tag named when the release was created. */
  sha: text('sha'),
  releasedAtMs: time('released_at_ms'),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

export interface ReleaseRecord extends ObjectOf<typeof releaseFields> {}

export const linkDraft = {
  name: text('name').check(hasText, maxCharacters(255)),
  url: text('url').check(
    matches(/^(?:https?|ftp):\/\/[^\s/]\S*$/, 'is blocked: Only allowed schemes are http, https, ftp'),
    maxLength(2_048),
  ),
  /** The path below which the release's page offers the link. */
  filepath: text('filepath')
    .check(matches(/^\/[\w./~-]*[\w~-]$/), maxLength(128))
    .optional(),
  linkType: oneOf('link_type', linkTypes).default('other'),
}
export const linkFields = {
  id: id(),
  releaseId: int('release_id'),
  ...linkDraft,
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

export interface ReleaseLinkRecord extends ObjectOf<typeof linkFields> {}
/** A link with the release that it belongs to. */
export interface ReleaseLink extends ReleaseLinkRecord {
  readonly tag: string
  readonly projectPath: string
}

/** A milestone of a release, with the number of issues that the caller may see. */
export type ReleaseMilestone = DescribedMilestone & { readonly opened: number; readonly closed: number }

/** A release as one caller sees it. */
export interface Release extends ReleaseRecord {
  readonly projectPath: string
  /** The path of the project without its namespace. */
  readonly projectSlug: string
  readonly author: User | undefined
  readonly links: readonly ReleaseLink[]
  readonly milestones: readonly ReleaseMilestone[]
  /** `undefined` if the repository has the commit no longer, or the caller may not read the repository. */
  readonly commit: Commit | undefined
  /** Whether the caller may read the repository, and so know the tag and the sources. */
  readonly showsCode: boolean
  readonly mayUpdate: boolean
}

/** Returns the name, by default the tag. Callers who may not read the repository get the id in place of the tag. */
export function nameOfRelease({
  id,
  name,
  tag,
  showsCode,
}: Pick<Release, 'id' | 'name' | 'tag' | 'showsCode'>): string {
  const shown = name ?? tag
  return showsCode || shown !== tag ? shown : `Release-${id}`
}

const onTag = { project: namespaceRef, tagName: z.string().min(1).max(1_024) }
const titles = z.array(z.string().max(255)).max(MAX_MILESTONES)
const milestonesInput = {
  /** Titles of milestones of the project and of the groups above. */
  milestones: clearable(titles),
  milestoneIds: clearable(z.array(z.int()).max(MAX_MILESTONES)),
}
const linkInput = {
  name: z.string(),
  url: z.string(),
  filepath: clearable(z.string()),
  /** Replaces `filepath`, its former name. */
  directAssetPath: clearable(z.string()),
  linkType: z.enum(linkTypes).optional(),
}
export type LinkInput = z.output<z.ZodObject<typeof linkInput>>

const oneWayToNameMilestones = (
  { milestones, milestoneIds }: { readonly milestones?: unknown; readonly milestoneIds?: unknown },
  context: z.RefinementCtx,
) => {
  if (milestones !== undefined && milestoneIds !== undefined) {
    context.addIssue(problem('mutually_exclusive', { names: ['milestones', 'milestoneIds'] }))
  }
}

export const releaseInput = z.object(onTag)
export const createReleaseInput = z
  .object({
    ...onTag,
    /** Makes a new tag an annotated one. */
    tagMessage: z.string().max(1_048_576).nullish(),
    /** The branch or commit of a new tag. */
    ref: z.string().max(1_024).nullish(),
    name: clearable(z.string()),
    description: clearable(z.string()),
    ...milestonesInput,
    assets: z.object({ links: z.array(z.object(linkInput)).max(MAX_LINKS).optional() }).nullish(),
    releasedAt: instant.optional(),
  })
  .superRefine(oneWayToNameMilestones, acrossParameters)
export const updateReleaseInput = z
  .object({
    ...onTag,
    name: clearable(z.string()),
    description: clearable(z.string()),
    ...milestonesInput,
    releasedAt: instant.optional(),
  })
  .superRefine(oneWayToNameMilestones, acrossParameters)

const oneLink = { ...onTag, linkId: z.int() }
export const releaseLinkInput = z.object(oneLink)
export const createLinkInput = z.object({ ...onTag, ...linkInput })
export const updateLinkInput = z.object({
  ...oneLink,
  ...linkInput,
  name: z.string().optional(),
  url: z.string().optional(),
})

export const releaseOrders = {
  orderBy: z.enum(['released_at', 'created_at']).default('released_at'),
  sort: z.enum(['asc', 'desc']).default('desc'),
}

export const releaseEvents: RecordedKind<ReleaseRecord & { readonly milestoneIds: readonly number[] }> = {
  noun: 'release',
  compared: { ...comparedFields(releaseFields), milestoneIds: ({ milestoneIds }) => milestoneIds },
  detailsOf: ({ tag }) => ({ tag }),
}
export const linkEvents: RecordedKind<ReleaseLinkRecord> = {
  noun: 'release_link',
  compared: comparedFields(linkFields),
  detailsOf: ({ name, releaseId }) => ({ name, releaseId }),
}
