import { type Project, viewsOfProjects } from '@penstock/core'
import type { FieldRef } from '@pothos/core'
import { loadBatched } from '../../request/request-context.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import type { FieldsOf, Types } from '../../schema/schema-types.ts'

/** The settings that clients read under the same name. */
const flags = [
  'lfsEnabled',
  'publicJobs',
  'sharedRunnersEnabled',
  'serviceDeskEnabled',
  'autocloseReferencedIssues',
  'removeSourceBranchAfterMerge',
  'onlyAllowMergeIfPipelineSucceeds',
  'onlyAllowMergeIfAllDiscussionsAreResolved',
  'allowMergeOnSkippedPipeline',
] as const
const templates = ['mergeCommitTemplate', 'squashCommitTemplate', 'suggestionCommitMessage'] as const

/** Returns the fields for the features and settings of a project. */
export function projectSettingFields(t: FieldsOf<Project>): Record<string, FieldRef<Types, unknown>> {
  const { alwaysFalse, alwaysZero, always } = constantFields(t)
  const isEnabled = (feature: keyof Project['features']) =>
    t.boolean({ resolve: ({ features }) => features[feature] !== 'disabled' })
  return {
    importStatus: t.string({ resolve: () => 'none' }),
    markedForDeletion: always(false),
    isForked: alwaysFalse(),
    starCount: t.int({
      nullable: false,
      resolve: async (project, _args, context) => (await loadBatched(context, viewsOfProjects, project)).starCount,
    }),
    forksCount: alwaysZero(),
    issuesEnabled: isEnabled('issues'),
    mergeRequestsEnabled: isEnabled('mergeRequests'),
    wikiEnabled: isEnabled('wiki'),
    snippetsEnabled: isEnabled('snippets'),
    jobsEnabled: isEnabled('builds'),
    containerRegistryEnabled: t.boolean({
      resolve: ({ settings }) => settings.containerRegistryAccessLevel !== 'disabled',
    }),
    ...Object.fromEntries(flags.map((name) => [name, t.boolean({ resolve: ({ settings }) => settings[name] })])),
    ...Object.fromEntries(templates.map((name) => [name, t.string({ resolve: ({ settings }) => settings[name] })])),
    mergeRequestsFfOnlyEnabled: t.boolean({ resolve: ({ settings }) => settings.mergeMethod === 'ff' }),
    squashReadOnly: t.boolean({
      nullable: false,
      description: 'Whether merge requests cannot choose',
      resolve: ({ settings: { squashOption } }) => squashOption === 'always' || squashOption === 'never',
    }),
  }
}
