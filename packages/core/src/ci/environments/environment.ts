import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DAY_MS } from '../../base/kit/day.ts'
import {
  brokenRules,
  changesOf,
  id,
  int,
  matches,
  maxCharacters,
  maxLength,
  notBlank,
  type ObjectOf,
  oneOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'
import type { ProjectView } from '../../identity/projects/project-view.ts'

export const environmentTiers = ['production', 'staging', 'testing', 'development', 'other'] as const
export type EnvironmentTier = (typeof environmentTiers)[number]
const environmentStates = ['available', 'stopping', 'stopped'] as const

/** The limit of the environments of a project. */
export const MAX_ENVIRONMENTS = 10_000

const nameMessage =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"

export const environmentName = {
  name: text('name').check(notBlank, maxLength(255), matches(/^(?!\/)[A-Za-z0-9_ ${}./-]*(?<!\/)$/, nameMessage)),
}
/** The fields that a user may change. */
export const environmentSettings = {
  description: text('description').check(maxCharacters(10_000)).optional(),
  externalUrl: text('external_url')
    .check(matches(/^https?:\/\/[^\s/]\S*$/i, 'is blocked: Only allowed schemes are http, https'), maxLength(255))
    .optional(),
  tier: oneOf('tier', environmentTiers),
  autoStopSetting: oneOf('auto_stop_setting', ['always', 'with_action']).default('always'),
}
export const environmentFields = {
  id: id(),
  projectId: int('project_id'),
  ...environmentName,
  /** The name in a form that fits into host names. */
  slug: text('slug'),
  ...environmentSettings,
  state: oneOf('state', environmentStates),
  /** When a stopped review app is going to be deleted. */
  autoDeleteAtMs: time('auto_delete_at_ms').optional(),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A place to which a project is deployed. */
export interface Environment extends ObjectOf<typeof environmentFields> {}

/** An environment with its project, as answers show it. */
export interface ShownEnvironment extends Environment {
  readonly projectView: ProjectView
}

/** Returns whether an environment can have this name. */
export const isEnvironmentName = (name: string): boolean =>
  Object.keys(brokenRules(environmentName, { name })).length === 0

export const environmentDraft = { ...environmentName, ...environmentSettings }

/** Words in names that tell the tier, in the order in which they are tried. */
const tierWords: readonly (readonly [EnvironmentTier, RegExp])[] = [
  ['development', /dev|review|trunk/i],
  ['testing', /test|tst|int|ac(?:ce|)pt|qa|qc|control|quality/i],
  ['staging', /st(?:a|)g|mod(?:e|)l|pre|demo|non/i],
  ['production', /pr(?:o|)d|live/i],
]

/** Returns the tier that a name suggests. */
export const tierOfName = (name: string): EnvironmentTier =>
  tierWords.find(([, word]) => word.test(name))?.[0] ?? 'other'

const MAX_SLUG = 24
const SUFFIX = 6

/** Returns the name in lower-case letters, digits and dashes. A name that had to be changed gets a suffix, which tells it from others. */
export function slugOfName(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const slug = (/^[a-z]/.test(plain) ? plain : `env-${plain}`.replaceAll(/-+/g, '-'))
    .slice(0, MAX_SLUG)
    .replace(/-$/, '')
  if (slug === name) return slug
  const digest = createHash('sha256').update(name).digest('hex')
  const suffix = BigInt(`0x${digest}`).toString(36).slice(-SUFFIX)
  return `${slug.slice(0, MAX_SLUG - SUFFIX - 1).replace(/-$/, '')}-${suffix}`
}

const MIN_SEARCH = 3
const one = { project: namespaceRef, environmentId: z.int() }

export const listEnvironmentsInput = z
  .object({
    project: namespaceRef,
    name: z.string().max(255).optional(),
    search: z.string().max(255).optional(),
    states: z.enum(environmentStates).optional(),
    ...pageInput,
  })
  .superRefine(({ name, search }, context) => {
    if (name !== undefined && search !== undefined)
      context.addIssue(problem('mutually_exclusive', { names: ['name', 'search'] }))
  }, acrossParameters)
export type EnvironmentFilter = Pick<z.output<typeof listEnvironmentsInput>, 'name' | 'search' | 'states'>

export const isSearchTooShort = ({ search }: EnvironmentFilter): boolean => !!search && search.length < MIN_SEARCH

export const environmentInput = z.object(one)
export const createEnvironmentInput = z.object({
  project: namespaceRef,
  ...parametersOf(environmentDraft),
  /** Default: the tier that the name suggests. */
  tier: z.enum(environmentTiers).nullish(),
})
export const updateEnvironmentInput = z.object({ ...one, ...changesOf(environmentSettings) })
export const stopStaleInput = z.object({ project: namespaceRef, before: instant })

const DELETED_AFTER_DAYS = 7
export const REVIEW_APP_AGE_MS = 30 * DAY_MS
/** The time between the scheduling of a deletion and the deletion. */
export const DELETION_DELAY_MS = DELETED_AFTER_DAYS * DAY_MS
export const removeReviewAppsInput = z.object({
  project: namespaceRef,
  before: instant.optional(),
  limit: z.int().min(1).max(1_000).default(100),
  dryRun: z.boolean().default(true),
})

export const environmentEvents: RecordedKind<Environment> = {
  noun: 'environment',
  compared: comparedFields(environmentFields),
  detailsOf: ({ name }) => ({ name }),
}
