import { z } from 'zod'
import {
  changesOf,
  flag,
  id,
  int,
  list,
  matches,
  maxCharacters,
  maxLength,
  notBlank,
  type ObjectOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'
import { MAX_XIDS_LENGTH } from './user-list.ts'

/** The limit of the flags of a project. */
export const MAX_FLAGS = 1_000
/** The limits of the strategies of a flag, and of the scopes of a strategy. */
export const MAX_STRATEGIES = 20
export const MAX_SCOPES = 50

/** A rule by which clients turn the flag on, within some environments. */
const strategy = z.object({
  id: z.int(),
  name: z.string(),
  parameters: z.record(z.string(), z.string()),
  scopes: z.array(z.object({ id: z.int(), environmentScope: z.string() })),
  /** Only of the strategy `gitlabUserList`. */
  userListId: z.int().optional(),
})
export type Strategy = z.output<typeof strategy>

const nameMessage =
  "can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'"

/** The fields that a user sets, besides the strategies. */
export const flagDraft = {
  name: text('name').check(notBlank, maxLength(63), matches(/^[a-z](?:[-_a-z0-9]*[a-z0-9])?$/, nameMessage)),
  description: text('description').check(maxCharacters(10_000)).optional(),
  active: flag('active').default(true),
}
export const flagFields = {
  id: id(),
  iid: int('iid'),
  projectId: int('project_id'),
  ...flagDraft,
  strategies: list('strategies', strategy),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A switch that programs read to turn a feature on or off. */
export interface FeatureFlag extends ObjectOf<typeof flagFields> {}

/** A list of users as the flags that use it show it. */
export interface NamedUserList {
  readonly id: number
  readonly iid: number
  readonly name: string
}

export interface ShownFeatureFlag extends Omit<FeatureFlag, 'strategies'> {
  readonly strategies: readonly (Strategy & { readonly userList: NamedUserList | undefined })[]
}

/** The limit of parameters that are sent as JSON: their values, and room for names and escapes. */
const MAX_PARAMETERS_LENGTH = 2 * MAX_XIDS_LENGTH

/** The parameters of a strategy: an object of texts. Some programs send it as a text of JSON. */
const parameters = z.preprocess(
  (value) => {
    const parsed = typeof value === 'string' && value.length <= MAX_PARAMETERS_LENGTH ? parsedJson(value) : value
    // The schema would ignore this name instead of refusing it.
    return typeof parsed === 'object' && parsed !== null && Object.hasOwn(parsed, '__proto__') ? undefined : parsed
  },
  z.record(z.string().max(32), z.string().max(MAX_XIDS_LENGTH)),
)

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const scope = z.string().max(255)
const newStrategy = z.object({
  name: z.string().max(64),
  parameters,
  scopes: z
    .array(z.object({ environmentScope: scope }))
    .max(MAX_SCOPES)
    .optional(),
  userListId: z.int().optional(),
})
/** The REST name of `Destroy` is `_destroy`. */
const changedStrategy = z.object({
  id: z.int().optional(),
  name: z.string().max(64).optional(),
  parameters: parameters.optional(),
  Destroy: z.boolean().optional(),
  scopes: z
    .array(z.object({ id: z.int().optional(), environmentScope: scope.optional(), Destroy: z.boolean().optional() }))
    .max(2 * MAX_SCOPES)
    .optional(),
  userListId: z.int().optional(),
})
export type StrategyInput = z.output<typeof changedStrategy>

const one = { project: namespaceRef, featureFlagName: z.string().min(1).max(255) }
export const listFlagsInput = z.object({
  project: namespaceRef,
  scope: z.enum(['enabled', 'disabled']).optional(),
  ...pageInput,
})
export const flagInput = z.object(one)
export const createFlagInput = z.object({
  project: namespaceRef,
  ...parametersOf(flagDraft),
  /** The only version. */
  version: z.enum(['new_version_flag']).default('new_version_flag'),
  strategies: z.array(newStrategy).max(MAX_STRATEGIES).optional(),
})
export const updateFlagInput = z.object({
  ...one,
  ...changesOf(flagDraft),
  strategies: z
    .array(changedStrategy)
    .max(2 * MAX_STRATEGIES)
    .optional(),
})

export const flagEvents: RecordedKind<FeatureFlag> = {
  noun: 'feature_flag',
  compared: comparedFields(flagFields),
  detailsOf: ({ name }) => ({ name }),
}
