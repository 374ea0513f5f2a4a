export { type ReadLimit, ReadLimitExceeded } from '@penstock/db'
export type {} from './all-tables.ts'
export { type Permission, permissionTable } from './base/access/permission-table.ts'
export { requirePermission, type Subject, standingOf } from './base/access/subject.ts'
export { DEFAULT_BRANCH } from './base/git/change-repository.ts'
export type { DiffStats, FileDiff } from './base/git/commit-diff.ts'
export { copyRepository, findBrokenReferences } from './base/git/copy-repository.ts'
export type { CommitSignatureType } from './base/git/git-object.ts'
export { allDirectories, auditRepositories } from './base/git/repository-audit.ts'
export { parseBoolean } from './base/kit/boolean-words.ts'
export { MAX_INTEGER } from './base/kit/common-fields.ts'
export * from './base/kit/domain-error.ts'
export { errorTexts } from './base/kit/error-texts.ts'
export { clientNameOf, type FieldTable, type FieldType, type NameOf, type ObjectOf } from './base/kit/field-table.ts'
export { headerName } from './base/kit/header-name.ts'
export * from './base/kit/listing.ts'
export { type KeysetPage, type Page, pageInput, pageOf } from './base/kit/page.ts'
export * from './base/kit/parameter-schemas.ts'
export { parseInput } from './base/kit/parse-input.ts'
export type { ReadContext } from './base/kit/store-context.ts'
export type { CoreTables } from './base/kit/tables.ts'
export * from './base/model/access-level.ts'
export { sshCloneUrl } from './base/model/clone-url.ts'
export { creationLevelFields } from './base/model/creation-levels.ts'
export { type FeatureLevel, groupFeatureFields, projectFeatureFields } from './base/model/feature-access.ts'
export type { Group } from './base/model/group.ts'
export { groupSettings } from './base/model/group-settings.ts'
export type { HookCallResult } from './base/model/hook-calls.ts'
export type { MarkupRequest } from './base/model/markup.ts'
export * from './base/model/project.ts'
export { projectSettings } from './base/model/project-settings.ts'
export type { SpamCheck, SpamReport, SpamSuspect, SpamVerdict } from './base/model/spam-check.ts'
export * from './base/model/user.ts'
export { userSettings } from './base/model/user-settings.ts'
export type { CallLimit } from './base/operations/call-limit.ts'
export * from './base/operations/context.ts'
export type { Described, SizedDescription } from './base/operations/description-store.ts'
export type { Changes, DomainEvent, PushedReference, WrittenPipeline } from './base/operations/event.ts'
export { requireDatabase } from './base/operations/health-store.ts'
export * from './base/operations/operation.ts'
export * from './base/operations/perform.ts'
export { noRequest, type RequestFacts, toRequestFacts } from './base/operations/request-facts.ts'
export { type ShownStanding, showStandings } from './base/operations/standings.ts'
export * from './base/operations/watched-reads.ts'
export { type Counted, type Limit, WindowCounter } from './base/operations/window-counter.ts'
export { loadSecretsKey, readSecretsKey } from './base/secrets/secrets-key.ts'
export { PLATFORM_AVAILABILITY, platformNames, platformNamesFor } from './base/settings/platform-names.ts'
export { settingOf, settingsOf } from './base/settings/setting-of.ts'
export {
  getApplicationSettings,
  getCiApplicationSettings,
  updateApplicationSettings,
} from './base/settings/settings-operations.ts'
export { type SettingsRecord, settingsRecordFields } from './base/settings/settings-record.ts'
export { defaultOf as defaultOfSetting } from './base/settings/settings-store.ts'
export type { Setting } from './base/settings/table/setting.ts'
export { type SettingName, type SettingValues, settingRows, settingTable } from './base/settings/table/setting-table.ts'
export * from './ci/deployments/deployed-environment.ts'
export * from './ci/deployments/deployment-operations.ts'
export type { Deployment } from './ci/deployments/shown-deployment.ts'
export { deploymentStatuses } from './ci/environments/deployment.ts'
export { type Environment, environmentFields, type ShownEnvironment } from './ci/environments/environment.ts'
export {
  createEnvironment,
  listEnvironments,
  type ReviewAppDeletion,
  removeEnvironment,
  removeReviewApps,
  stopEnvironment,
  stopStaleEnvironments,
  updateEnvironment,
} from './ci/environments/environment-operations.ts'
export { type FeatureFlag, flagFields, type ShownFeatureFlag } from './ci/feature-flags/feature-flag.ts'
export * from './ci/feature-flags/feature-flag-operations.ts'
export { flagById } from './ci/feature-flags/feature-flag-store.ts'
export { type UserList, userListFields } from './ci/feature-flags/user-list.ts'
export * from './ci/feature-flags/user-list-operations.ts'
export { type CommitStatus, listCommitStatuses } from './ci/pipelines/commit-status-operations.ts'
export { type CommitWithPipeline, getCommitWithPipeline } from './ci/pipelines/commit-with-pipeline.ts'
export {
  type ExportSettings,
  exportSignals,
  exportVariableKeys,
  loadExportSettings,
} from './ci/pipelines/export-settings.ts'
export type { BridgeWithCommit, JobWithCommit } from './ci/pipelines/job-commits.ts'
export * from './ci/pipelines/job-listings.ts'
export {
  type JobOfPipeline,
  type Pipeline,
  pipelineScopes,
  type RecordedArtifacts,
  type RecordedJob,
  type RecordedRunner,
  type RecordedUser,
  type RecordedVariable,
} from './ci/pipelines/pipeline.ts'
export * from './ci/pipelines/pipeline-changes.ts'
export * from './ci/pipelines/pipeline-details.ts'
export * from './ci/pipelines/pipeline-listings.ts'
export * from './ci/pipelines/pipeline-operations.ts'
export { isComplete, type PipelineStatus, pipelineStatuses } from './ci/pipelines/pipeline-status.ts'
export { findPipelineByKey } from './ci/pipelines/pipeline-store.ts'
export { postCommitStatus } from './ci/pipelines/post-status.ts'
export { type JobGroup, jobGroupsOf, type Stage } from './ci/pipelines/stage.ts'
export * from './ci/pipelines/status-wording.ts'
export * from './ci/pipelines/trace-instance-store.ts'
export type { VariableCircumstances } from './ci/variables/effective-variables.ts'
export {
  maxVariables,
  type ShownVariable,
  type Variable,
  variableFields,
  variableTypes,
} from './ci/variables/variable.ts'
export { listInheritedVariablesOfEach, listInstanceVariables } from './ci/variables/variable-lists.ts'
export { groupVariables, projectVariables } from './ci/variables/variable-operations.ts'
export type { InheritedVariable } from './ci/variables/variable-store.ts'
export * from './code/projects/project-operations.ts'
export { type Archive, getArchive } from './code/repositories/archive-operations.ts'
export {
  type Branch,
  createBranch,
  getBranch,
  listBranches,
  removeBranch,
} from './code/repositories/branch-operations.ts'
export { type Commit, type ListedCommit, signatureTime, type Trailer, titleOf } from './code/repositories/commit.ts'
export {
  type CommitWithStats,
  createCommit,
  getCommit,
  listCommitDiffs,
  listCommits,
} from './code/repositories/commit-operations.ts'
export * from './code/repositories/comparison-operations.ts'
export {
  type ChangedFile,
  createFile,
  getBlob,
  getFile,
  getRawBlob,
  getRawFile,
  listTree,
  type RepositoryFile,
  removeFile,
  updateFile,
} from './code/repositories/file-operations.ts'
export * from './code/repositories/history-operations.ts'
export { getProjectLanguages, type ProjectLanguages } from './code/repositories/language-operations.ts'
export { type LanguageShare, languageOf } from './code/repositories/languages.ts'
export * from './code/repositories/pick-operations.ts'
export type {
  CommitSummary,
  EntryOfTree,
  FileOfRepository,
  RepositoryReader,
  RepositoryTree,
} from './code/repositories/repository-reader.ts'
export {
  authorsOfCommits,
  branchNamesOf,
  commitsAt,
  commitsOfRepositories,
  countsOfRepositories,
  entriesOfTrees,
  filesAt,
  languagesOfRepositories,
  lastCommitsAt,
  messagesOfCommits,
  openRepositories,
  summariesOfCommits,
  treesAt,
} from './code/repositories/repository-reads.ts'
export { createTag, getTag, listTags, removeTag, type Tag } from './code/repositories/tag-operations.ts'
export type { RepositoryTreeEntry } from './code/repositories/tree-entries.ts'
export {
  type DescribedSnippet,
  describedSnippetFields,
  type Snippet,
  snippetClonePath,
  snippetFields,
  snippetFileWebPath,
  snippetWebPath,
} from './code/snippets/snippet.ts'
export { canCreatePersonalSnippet } from './code/snippets/snippet-access.ts'
export { snippetActionNames } from './code/snippets/snippet-actions.ts'
export * from './code/snippets/snippet-listings.ts'
export * from './code/snippets/snippet-mutations.ts'
export * from './code/snippets/snippet-operations.ts'
export * from './code/snippets/snippet-reads.ts'
export type { SnippetUserAgent } from './code/snippets/user-agent-store.ts'
export type { AccessRequest } from './identity/access-requests/access-request.ts'
export * from './identity/access-requests/access-request-operations.ts'
export { mayRequestAccessToEach } from './identity/access-requests/may-request-access.ts'
export * from './identity/accounts/email-operations.ts'
export * from './identity/accounts/user-listings.ts'
export * from './identity/accounts/user-lists.ts'
export * from './identity/accounts/user-operations.ts'
export { avatarPath } from './identity/avatars/avatar.ts'
export * from './identity/callers/identify.ts'
export {
  type DeployToken,
  deployTokenUsername,
  type IssuedDeployToken,
  isExpiredDeployToken,
} from './identity/deploy-tokens/deploy-token.ts'
export {
  groupDeployTokens,
  listDeployTokens,
  projectDeployTokens,
} from './identity/deploy-tokens/deploy-token-operations.ts'
export { insertGroup } from './identity/groups/group-store.ts'
export { mayLeaveEach } from './identity/members/may-leave.ts'
export { type Member, roleNames } from './identity/members/member.ts'
export { insertMember } from './identity/members/member-store.ts'
export * from './identity/namespaces/group-details.ts'
export * from './identity/namespaces/group-listings.ts'
export * from './identity/namespaces/group-operations.ts'
export {
  type AddedMembers,
  groupMembers,
  listMembershipsOfEach,
  projectMembers,
} from './identity/namespaces/member-operations.ts'
export * from './identity/namespaces/namespace-operations.ts'
export { listProjectUsers } from './identity/namespaces/project-user-operations.ts'
export * from './identity/oauth/application.ts'
export * from './identity/oauth/application-operations.ts'
export * from './identity/oauth/authorization.ts'
export * from './identity/oauth/authorized-application-operations.ts'
export type { AuthorizedApplication } from './identity/oauth/authorized-application-store.ts'
export type { ClientCredentials } from './identity/oauth/client.ts'
export * from './identity/oauth/device-grant.ts'
export * from './identity/oauth/grant-token.ts'
export { claimNames, identityClaims, userinfoScopes } from './identity/oauth/identity-claims.ts'
export * from './identity/oauth/oauth-refusal.ts'
export * from './identity/oauth/oauth-token.ts'
export { publishedKeys, rotateSigningKey, SIGNING_ALGORITHM } from './identity/oauth/signing-key-store.ts'
export { browseProjects } from './identity/projects/project-listings.ts'
export * from './identity/projects/project-lists.ts'
export {
  groupsOfProjects,
  namespaceOwnersOfProjects,
  topicsOfProjects,
  viewsOfProjects,
} from './identity/projects/project-relations.ts'
export { featureSwitches } from './identity/projects/project-settings-input.ts'
export { listStarrers, starProject, unstarProject } from './identity/projects/project-star-operations.ts'
export type { Starrer } from './identity/projects/project-star-store.ts'
export { type ProjectStatistics, statisticsOfProjects } from './identity/projects/project-statistics.ts'
export { findFormerProject, getProject, insertProject } from './identity/projects/project-store.ts'
export type { Namespace, ProjectView } from './identity/projects/project-view.ts'
export {
  findEachProject,
  listProjectsOfEachGroup,
  listProjectsOfEachUser,
} from './identity/projects/projects-of-parents.ts'
export { storedTextLimit } from './identity/projects/stored-texts.ts'
export * from './identity/sessions/session.ts'
export type { AccessToken, IssuedAccessToken } from './identity/tokens/access-token.ts'
export * from './identity/tokens/authenticated.ts'
export * from './identity/tokens/bot-token-operations.ts'
export * from './identity/tokens/impersonation-token-operations.ts'
export { createJobToken, revokeJobToken } from './identity/tokens/job-token.ts'
export {
  createOwnPersonalToken,
  createPersonalToken,
  getOwnToken,
  getPersonalToken,
  listPersonalTokens,
  revokeOwnToken,
  revokePersonalToken,
  rotateOwnToken,
  rotatePersonalToken,
} from './identity/tokens/personal-token-operations.ts'
export { ensureRootToken } from './identity/tokens/root-token.ts'
export * from './identity/tokens/scope.ts'
export * from './identity/tokens/sudo.ts'
export * from './identity/uploads/avatar-operations.ts'
export type { Email } from './identity/users/email.ts'
export { findEmail } from './identity/users/email-store.ts'
export { listUserActivities, type UserActivity } from './identity/users/user-activities.ts'
export { profileOf } from './identity/users/user-profile.ts'
export {
  findUser,
  findUserByIdOrUsername,
  findUserByUsername,
  findUsers,
  findUsersByUsername,
  getUser,
  insertUser,
} from './identity/users/user-store.ts'
export {
  type BroadcastMessage,
  type BroadcastTheme,
  broadcastMessageFields,
  DEFAULT_FONT,
  isMessageActive,
} from './instance/broadcast-messages/broadcast-message.ts'
export * from './instance/broadcast-messages/broadcast-message-operations.ts'
export { type GeoNode, geoNodeFields } from './instance/geo-nodes/geo-node.ts'
export * from './instance/geo-nodes/geo-node-operations.ts'
export type { ReplicableCounts } from './instance/geo-nodes/geo-node-store.ts'
export { branchFilterStrategies, matchesBranch } from './instance/hooks/branch-filter.ts'
export {
  alertStatuses,
  type Hook,
  healthAfterFailure,
  hookFields,
  isExecutable,
  type ShownHook,
} from './instance/hooks/hook.ts'
export * from './instance/hooks/hook-call-operations.ts'
export { type DeploymentFacts, readDeploymentFacts } from './instance/hooks/hook-deployment-facts.ts'
export * from './instance/hooks/hook-event-records.ts'
export * from './instance/hooks/hook-facts.ts'
export * from './instance/hooks/hook-git-facts.ts'
export * from './instance/hooks/hook-listings.ts'
export * from './instance/hooks/hook-log.ts'
export { endHookCall, findCallOfPayload, getHookCall, insertHookCall } from './instance/hooks/hook-log-store.ts'
export { type NotedDiff, readNotedDiff } from './instance/hooks/hook-noted-diff.ts'
export {
  createHook,
  getProjectHook,
  listHooks,
  removeHook,
  removeHookHeader,
  removeHookUrlVariable,
  setHookHeader,
  setHookUrlVariable,
  updateProjectHook,
} from './instance/hooks/hook-operations.ts'
export {
  findHookPayload,
  type HookPayload,
  insertHookPayload,
  joinHookChain,
  KEPT_PAYLOADS_MS,
  releaseHookPayload,
} from './instance/hooks/hook-payload-store.ts'
export { digestOfUrl, effectiveUrl } from './instance/hooks/hook-rules.ts'
export { type HookSecrets, noSecrets } from './instance/hooks/hook-secrets.ts'
export { type CalledHook, findHook, hooksToCall, setHookHealth } from './instance/hooks/hook-store.ts'
export * from './instance/hooks/hook-switches.ts'
export { targetOf, withoutCredentials } from './instance/hooks/hook-url.ts'
export { isNewCoreDatabase, migrateCore, pendingCoreMigrations } from './migrate-core.ts'
export { acceptsSecretsKey, matchesSecretsKey, needsSecretsKey } from './secrets-key-check.ts'
export { startSweeping, sweep } from './sweep.ts'
export * from './version.ts'
export { type AwardEmoji, awardableIdOf, awardEmojiFields } from './work/award-emoji/award-emoji.ts'
export * from './work/discussions/award-emoji-operations.ts'
export * from './work/discussions/commit-comments.ts'
export * from './work/discussions/discussion-operations.ts'
export * from './work/discussions/note-operations.ts'
export type { BurndownEvent } from './work/issues/burndown.ts'
export { announceDueIssues } from './work/issues/due-issues.ts'
export * from './work/issues/duration.ts'
export {
  type DescribedIssuable,
  type Issuable,
  type ListedIssuable,
  type TaskCompletion,
  taskCompletionOf,
} from './work/issues/issuable.ts'
export type { TimeStats, WithSubscription } from './work/issues/issuable-operations.ts'
export {
  type DescribedIssue,
  type Issue,
  type IssueStateEvent,
  issueSeverities,
  type ListedIssue,
  type ShownIssue,
  storedIssueTypes,
} from './work/issues/issue.ts'
export * from './work/issues/issue-listings.ts'
export * from './work/issues/issue-move.ts'
export * from './work/issues/issue-operations.ts'
export * from './work/issues/issue-statistics.ts'
export { issueTracking, subscriptionsToIssues } from './work/issues/issue-tracking.ts'
export * from './work/issues/milestone-issues.ts'
export { type BurnupTotals, reportOfEachMilestone } from './work/issues/milestone-report.ts'
export { type DescribedLabel, describedLabelFields, type Label, labelFields, textColorOn } from './work/labels/label.ts'
export * from './work/labels/label-lists.ts'
export { groupLabels, projectLabels } from './work/labels/label-operations.ts'
export { promoteProjectLabel } from './work/labels/label-promotion.ts'
export * from './work/labels/label-subscriptions.ts'
export { highlightFile, renderMarkup } from './work/markup/render-markup.ts'
export * from './work/merge-requests/approval-operations.ts'
export { cancelAutoMerge } from './work/merge-requests/auto-merge.ts'
export { autoMergeListener } from './work/merge-requests/automatic-merges.ts'
export { checkedMergeRequests } from './work/merge-requests/check-branches.ts'
export * from './work/merge-requests/closed-issues.ts'
export {
  addContextCommits,
  type ContextCommit,
  listContextCommits,
  removeContextCommits,
} from './work/merge-requests/context-commit-operations.ts'
export * from './work/merge-requests/label-work.ts'
export {
  approvalsLeft,
  type DescribedMergeRequest,
  isApproved,
  type ListedMergeRequest,
  type MergeRequest,
  mergeRequestStates,
  type Reviewer,
  type ReviewState,
  reviewStates,
} from './work/merge-requests/merge-request.ts'
export * from './work/merge-requests/merge-request-branches.ts'
export type { ShownMergeRequest } from './work/merge-requests/merge-request-details.ts'
export * from './work/merge-requests/merge-request-diff-operations.ts'
export * from './work/merge-requests/merge-request-listings.ts'
export { mergeMergeRequest } from './work/merge-requests/merge-request-merge.ts'
export * from './work/merge-requests/merge-request-operations.ts'
export * from './work/merge-requests/merge-request-pipelines.ts'
export * from './work/merge-requests/merge-request-settings.ts'
export * from './work/merge-requests/merge-request-tracking.ts'
export * from './work/merge-requests/merge-requests-of-commit.ts'
export {
  detailedMergeStatus,
  detailedMergeStatuses,
  hasConflicts,
  mergeStatus,
  mergeStatuses,
  needsRebase,
} from './work/merge-requests/merge-status.ts'
export * from './work/merge-requests/milestone-merge-requests.ts'
export * from './work/merge-requests/reviewer-operations.ts'
export {
  type DescribedMilestone,
  describedMilestoneFields,
  isMilestoneExpired,
  isMilestoneUpcoming,
  type Milestone,
  milestoneFields,
  milestoneWebPath,
} from './work/milestones/milestone.ts'
export * from './work/milestones/milestone-lists.ts'
export { groupMilestones, projectMilestones } from './work/milestones/milestone-operations.ts'
export { type Discussion, isResolvable, type Note, type NotePosition, noteableIdOf } from './work/notes/note.ts'
export * from './work/notes/note-listings.ts'
export { finishedPipelineEvent } from './work/notifications/finished-pipeline.ts'
export {
  isSelected,
  type NotificationLevel,
  type NotificationSetting,
  type NotificationSwitch,
  notificationLevels,
  notificationSwitches,
} from './work/notifications/notification-level.ts'
export type { NotificationEvent } from './work/notifications/notification-policy.ts'
export * from './work/notifications/notification-setting-operations.ts'
export {
  findNotification,
  insertNotification,
  type Notification,
  type NotifiedKind,
  type SubscribableKind,
} from './work/notifications/notification-store.ts'
export { listOwnLevels } from './work/notifications/own-settings.ts'
export { type Notified, type RecipientBatch, recipientsOf } from './work/notifications/recipients.ts'
export * from './work/notifications/unsubscribe-operations.ts'
export {
  linkTypes,
  nameOfRelease,
  type Release,
  type ReleaseLink,
  type ReleaseMilestone,
} from './work/releases/release.ts'
export {
  createReleaseLink,
  getReleaseLink,
  listReleaseLinks,
  removeReleaseLink,
  updateReleaseLink,
} from './work/releases/release-links.ts'
export * from './work/releases/release-listings.ts'
export {
  createRelease,
  getRelease,
  listReleases,
  removeRelease,
  updateRelease,
} from './work/releases/release-operations.ts'
export { findReleaseById } from './work/releases/release-store.ts'
export type { WikiAttachment } from './work/wikis/wiki-attachment.ts'
export {
  groupWikiAttachments,
  maxAttachmentBytes,
  projectWikiAttachments,
  type WikiFile,
} from './work/wikis/wiki-attachment-operations.ts'
export {
  contentsOfWikiPages,
  idsOfWikiPages,
  type ListedWikiPage,
  listWikiPagesOfEach,
  subscriptionsToWikiPages,
} from './work/wikis/wiki-listings.ts'
export { groupWikis, projectWikis } from './work/wikis/wiki-operations.ts'
export { type WikiPage, type WikiPageWithContent, wikiPageWebPath } from './work/wikis/wiki-page.ts'
export { subscribeToWikiPage } from './work/wikis/wiki-subscriptions.ts'
