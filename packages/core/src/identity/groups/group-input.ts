import { z } from 'zod'
import { branchName } from '../../base/git/branch-name.ts'
import { changesOf, newObject, validate, withInput } from '../../base/kit/field-table.ts'
import { keysetInput, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { visibilities } from '../../base/model/access-level.ts'
import { accessLevelInput } from '../../base/model/access-level-input.ts'
import { creationLevelFields } from '../../base/model/creation-levels.ts'
import { groupFeatureFields } from '../../base/model/feature-access.ts'
import type { Group } from '../../base/model/group.ts'
import { groupSettings } from '../../base/model/group-settings.ts'
import { avatarInput } from '../avatars/avatar.ts'

const text = z.string().min(1).max(255)
/** Short, because lists include it. */
const description = z.string().max(500)

export const groupListInput = {
  skipGroups: z.array(z.int()).max(100).optional(),
  allAvailable: z.boolean().optional(),
  search: z.string().max(255).optional(),
  visibility: z.enum(visibilities).optional(),
  owned: z.boolean().optional(),
  minAccessLevel: accessLevelInput.optional(),
  /** Groups cannot be archived or marked for deletion, so that all are active. */
  active: z.boolean().optional(),
  archived: z.boolean().optional(),
  markedForDeletionOn: z.string().max(255).optional(),
  /** All repositories are in the storage `default`. */
  repositoryStorage: z.string().max(255).optional(),
  /** `similarity` is to the search text. */
  orderBy: z.enum(['name', 'path', 'id', 'similarity']).default('name'),
  sort: z.enum(['asc', 'desc']).default('asc'),
  ...keysetInput,
  ...pageInput,
}
export type GroupListInput = z.output<z.ZodObject<typeof groupListInput>>

const attributes = {
  ...changesOf(groupFeatureFields),
  ...changesOf(groupSettings),
  ...changesOf(creationLevelFields),
  /** The former name of `emailsEnabled`, with the opposite value. */
  emailsDisabled: z.boolean().optional(),
  defaultBranch: branchName.nullish(),
  avatar: avatarInput,
}

export const groupDraftInput = z.object({
  name: text,
  path: text,
  parentId: z.int().nullish(),
  description: description.nullish(),
  /** Default: that of the application settings. */
  visibility: z.enum(visibilities).optional(),
  requestAccessEnabled: z.boolean().default(true),
  ...attributes,
})

export const groupChangesInput = z.object({
  group: namespaceRef,
  name: text.optional(),
  path: text.optional(),
  description: description.nullish(),
  visibility: z.enum(visibilities).optional(),
  requestAccessEnabled: z.boolean().optional(),
  ...attributes,
})

type WithSettings = Pick<Group, 'features' | 'settings' | 'creation'>
type SettingsInput = z.output<z.ZodObject<typeof attributes>>

/** Returns the features and the settings with the values of the input. @throws DomainError `invalid` */
export function withGroupSettings({ features, settings, creation }: WithSettings, input: SettingsInput): WithSettings {
  const { emailsDisabled } = input
  const changed: WithSettings = {
    features: withInput(groupFeatureFields, features, input),
    settings: withInput(groupSettings, settings, {
      ...(emailsDisabled !== undefined && { emailsEnabled: !emailsDisabled }),
      ...input,
    }),
    creation: withInput(creationLevelFields, creation, input),
  }
  validate(groupSettings, changed.settings)
  return changed
}

export const newGroupSettings = (input: SettingsInput): WithSettings =>
  withGroupSettings(
    {
      features: newObject(groupFeatureFields, {}),
      settings: newObject(groupSettings, {}),
      creation: newObject(creationLevelFields, {}),
    },
    input,
  )
