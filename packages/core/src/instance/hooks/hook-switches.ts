/** One kind of event that a hook can be called for. */
export interface HookSwitch {
  /** The name of the kind in the event log. */
  readonly trigger: string
  /** The value of the header `X-…-Event`. */
  readonly event: string
  /** Whether a test call can send a sample. */
  readonly isTestable: boolean
}

/** The switches of a hook, in the order of the API's answers, without `vulnerability_events`, which nothing causes. */
export const hookSwitches = {
  pushEvents: { trigger: 'push_hooks', event: 'Push Hook', isTestable: true },
  tagPushEvents: { trigger: 'tag_push_hooks', event: 'Tag Push Hook', isTestable: true },
  mergeRequestsEvents: { trigger: 'merge_request_hooks', event: 'Merge Request Hook', isTestable: true },
  repositoryUpdateEvents: { trigger: 'repository_update_hooks', event: 'Repository Update Hook', isTestable: false },
  issuesEvents: { trigger: 'issue_hooks', event: 'Issue Hook', isTestable: true },
  confidentialIssuesEvents: {
    trigger: 'confidential_issue_hooks',
    event: 'Confidential Issue Hook',
    isTestable: true,
  },
  noteEvents: { trigger: 'note_hooks', event: 'Note Hook', isTestable: true },
  confidentialNoteEvents: { trigger: 'confidential_note_hooks', event: 'Confidential Note Hook', isTestable: false },
  pipelineEvents: { trigger: 'pipeline_hooks', event: 'Pipeline Hook', isTestable: true },
  wikiPageEvents: { trigger: 'wiki_page_hooks', event: 'Wiki Page Hook', isTestable: true },
  deploymentEvents: { trigger: 'deployment_hooks', event: 'Deployment Hook', isTestable: false },
  featureFlagEvents: { trigger: 'feature_flag_hooks', event: 'Feature Flag Hook', isTestable: false },
  jobEvents: { trigger: 'job_hooks', event: 'Job Hook', isTestable: true },
  releasesEvents: { trigger: 'release_hooks', event: 'Release Hook', isTestable: true },
  milestoneEvents: { trigger: 'milestone_hooks', event: 'Milestone Hook', isTestable: true },
  emojiEvents: { trigger: 'emoji_hooks', event: 'Emoji Hook', isTestable: true },
  resourceAccessTokenEvents: {
    trigger: 'resource_access_token_hooks',
    event: 'Resource Access Token Hook',
    isTestable: true,
  },
  resourceDeployTokenEvents: {
    trigger: 'resource_deploy_token_hooks',
    event: 'Resource Deploy Token Hook',
    isTestable: true,
  },
} as const satisfies Record<string, HookSwitch>

export type HookSwitchName = keyof typeof hookSwitches

export const hookSwitchNames = Object.keys(hookSwitches) as HookSwitchName[]

type Snake<Text extends string> = Text extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Text
export type HookSwitchColumn = Snake<HookSwitchName>

/** Returns the column of a switch, which is also its name in the API: `push_events`. */
export const switchColumn = <Name extends HookSwitchName>(name: Name): Snake<Name> =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as Snake<Name>

/** The switches by their name in the API. */
export const switchByColumn: ReadonlyMap<string, HookSwitchName> = new Map(
  hookSwitchNames.map((name) => [switchColumn(name), name]),
)
