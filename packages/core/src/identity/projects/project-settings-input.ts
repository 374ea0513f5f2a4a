import { z } from 'zod'
import { changesOf, newObject, validate, withInput } from '../../base/kit/field-table.ts'
import { isMoreAccessible, type ProjectFeatures, projectFeatureFields } from '../../base/model/feature-access.ts'
import type { Project } from '../../base/model/project.ts'
import { projectSettings } from '../../base/model/project-settings.ts'

/** The older switches of features. Each of them represents the access level of a feature. */
export const featureSwitches = {
  issuesEnabled: 'issues',
  mergeRequestsEnabled: 'mergeRequests',
  jobsEnabled: 'builds',
  wikiEnabled: 'wiki',
  snippetsEnabled: 'snippets',
} as const satisfies Record<string, keyof ProjectFeatures>
const switchNames = Object.keys(featureSwitches) as (keyof typeof featureSwitches)[]

/** The parameters of features and settings, for creating and changing a project. */
export const settingsInput = {
  ...(Object.fromEntries(switchNames.map((name) => [name, z.boolean().optional()])) as Readonly<
    Record<keyof typeof featureSwitches, z.ZodOptional<z.ZodBoolean>>
  >),
  ...changesOf(projectFeatureFields),
  ...changesOf(projectSettings),
  /** Former names of settings. */
  publicBuilds: z.boolean().optional(),
  emailsDisabled: z.boolean().optional(),
  containerRegistryEnabled: z.boolean().optional(),
}
export type SettingsInput = z.output<z.ZodObject<typeof settingsInput>>

type WithSettings = Pick<Project, 'features' | 'settings'>

/**
 * Returns the features and the settings with the values of the input.
 *
 * @throws DomainError `invalid`
 */
export function withSettings({ features, settings }: WithSettings, input: SettingsInput): WithSettings {
  const switched = Object.fromEntries(
    switchNames.flatMap((name) =>
      input[name] === undefined ? [] : [[featureSwitches[name], input[name] ? 'enabled' : 'disabled']],
    ),
  ) as Partial<ProjectFeatures>
  const changed: WithSettings = {
    features: withInput(projectFeatureFields, { ...features, ...switched }, input),
    settings: withInput(projectSettings, settings, { ...aliased(input), ...input }),
  }
  validate(projectFeatureFields, changed.features, hierarchyErrors(changed.features))
  validate(projectSettings, changed.settings)
  return changed
}

export const newSettings = (input: SettingsInput): WithSettings =>
  withSettings({ features: newObject(projectFeatureFields, {}), settings: newObject(projectSettings, {}) }, input)

function aliased({ publicBuilds, emailsDisabled, containerRegistryEnabled }: SettingsInput) {
  return {
    ...(publicBuilds !== undefined && { publicJobs: publicBuilds }),
    ...(emailsDisabled !== undefined && { emailsEnabled: !emailsDisabled }),
    ...(containerRegistryEnabled !== undefined && {
      containerRegistryAccessLevel: containerRegistryEnabled ? ('enabled' as const) : ('disabled' as const),
    }),
  }
}

/** Merge requests and jobs need the repository, so they cannot be open to more people than the repository is. */
function hierarchyErrors(features: ProjectFeatures) {
  const wrong = ['cannot have higher visibility level than repository access level']
  const isAbove = (feature: 'mergeRequests' | 'builds') => isMoreAccessible(features[feature], features.repository)
  return {
    ...(isAbove('mergeRequests') && { mergeRequests: wrong }),
    ...(isAbove('builds') && { builds: wrong }),
  }
}
