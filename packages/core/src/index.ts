export { type ReadLimit, ReadLimitExceeded } from '@penstock/db'
export { type Permission, permissionTable } from './access/permission-table.ts'
export { requirePermission, type Subject, standingOf } from './access/subject.ts'
export type { AccessRequest } from './access-requests/access-request.ts'
export * from './access-requests/access-request-operations.ts'
export { mayRequestAccessToEach } from './access-requests/may-request-access.ts'
export type {} from './all-tables.ts'
export { avatarPath } from './avatars/avatar.ts'
export { type AwardEmoji, awardableIdOf, awardEmojiFields } from './award-emoji/award-emoji.ts'
export {
  type BroadcastMessage,
  type BroadcastTheme,
  broadcastMessageFields,
  DEFAULT_FONT,
  isMessageActive,
} from './broadcast-messages/broadcast-message.ts'
export * from './broadcast-messages/broadcast-message-operations.ts'
export {
  type DeployToken,
  deployTokenUsername,
  type IssuedDeployToken,
  isExpiredDeployToken,
} from './deploy-tokens/deploy-token.ts'
export { groupDeployTokens, listDeployTokens, projectDeployTokens } from './deploy-tokens/deploy-token-operations.ts'
export * from './deployments/deployed-environment.ts'
export * from './deployments/deployment-operations.ts'
export type { Deployment } from './deployments/shown-deployment.ts'
export * from './discussions/award-emoji-operations.ts'
export * from './discussions/commit-comments.ts'
export * from './discussions/discussion-operations.ts'
export * from './discussions/note-operations.ts'
export { type Email, MAX_EMAILS } from './emails/email.ts'
export * from './emails/email-operations.ts'
export { findEmail } from './emails/email-store.ts'
export { deploymentStatuses } from './environments/deployment.ts'
export { type Environment, environmentFields, type ShownEnvironment } from './environments/environment.ts'
export {
  createEnvironment,
  listEnvironments,
  type ReviewAppDeletion,
  removeEnvironment,
  removeReviewApps,
  stopEnvironment,
  stopStaleEnvironments,
  updateEnvironment,
} from './environments/environment-operations.ts'
export { type FeatureFlag, flagFields, type ShownFeatureFlag } from './feature-flags/feature-flag.ts'
export * from './feature-flags/feature-flag-operations.ts'
export { flagById } from './feature-flags/feature-flag-store.ts'
export { type UserList, userListFields } from './feature-flags/user-list.ts'
export * from './feature-flags/user-list-operations.ts'
export { type GeoNode, geoNodeFields } from './geo-nodes/geo-node.ts'
export * from './geo-nodes/geo-node-operations.ts'
export type { ReplicableCounts } from './geo-nodes/geo-node-store.ts'
export { DEFAULT_BRANCH } from './git/change-repository.ts'
export type { DiffStats, FileDiff } from './git/commit-diff.ts'
export { copyRepository, findBrokenReferences } from './git/copy-repository.ts'
export type { CommitSignatureType } from './git/git-object.ts'
export { allDirectories, auditRepositories, type RepositoryAudit } from './git/repository-audit.ts'
export * from './groups/group-details.ts'
export * from './groups/group-listings.ts'
export * from './groups/group-operations.ts'
export { insertGroup } from './groups/group-store.ts'
export * from './groups/namespace-operations.ts'
export { branchFilterStrategies, matchesBranch } from './hooks/branch-filter.ts'
export {
  type AlertStatus,
  alertStatuses,
  alertStatusOf,
  type Hook,
  healthAfterFailure,
  hookFields,
  isExecutable,
  type ShownHook,
} from './hooks/hook.ts'
export * from './hooks/hook-call-operations.ts'
export { type DeploymentFacts, readDeploymentFacts } from './hooks/hook-deployment-facts.ts'
export * from './hooks/hook-event-records.ts'
export * from './hooks/hook-facts.ts'
export * from './hooks/hook-git-facts.ts'
export * from './hooks/hook-listings.ts'
export * from './hooks/hook-log.ts'
export { endHookCall, findCallOfPayload, getHookCall, insertHookCall } from './hooks/hook-log-store.ts'
export { type NotedDiff, readNotedDiff } from './hooks/hook-noted-diff.ts'
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
} from './hooks/hook-operations.ts'
export {
  findHookPayload,
  type HookPayload,
  insertHookPayload,
  joinHookChain,
  KEPT_PAYLOADS_MS,
  releaseHookPayload,
} from './hooks/hook-payload-store.ts'
export { digestOfUrl, effectiveUrl } from './hooks/hook-rules.ts'
export { type HookSecrets, noSecrets } from './hooks/hook-secrets.ts'
export { type CalledHook, findHook, hooksToCall, setHookHealth } from './hooks/hook-store.ts'
export * from './hooks/hook-switches.ts'
export { type HookTarget, targetOf, withoutCredentials } from './hooks/hook-url.ts'
export type { BurndownEvent } from './issues/burndown.ts'
export { announceDueIssues } from './issues/due-issues.ts'
export * from './issues/duration.ts'
export {
  type DescribedIssuable,
  type Issuable,
  type ListedIssuable,
  type TaskCompletion,
  taskCompletionOf,
} from './issues/issuable.ts'
export type { TimeStats, WithSubscription } from './issues/issuable-operations.ts'
export {
  type DescribedIssue,
  type Issue,
  type IssueStateEvent,
  issueSeverities,
  type ListedIssue,
  type ShownIssue,
  storedIssueTypes,
} from './issues/issue.ts'
export * from './issues/issue-listings.ts'
export * from './issues/issue-move.ts'
export * from './issues/issue-operations.ts'
export * from './issues/issue-statistics.ts'
export { issueTracking, subscriptionsToIssues } from './issues/issue-tracking.ts'
export * from './issues/milestone-issues.ts'
export { type BurnupTotals, reportOfEachMilestone } from './issues/milestone-report.ts'
export { parseBoolean } from './kit/boolean-words.ts'
export { MAX_INTEGER } from './kit/common-fields.ts'
export * from './kit/domain-error.ts'
export { errorTexts } from './kit/error-texts.ts'
export { clientNameOf, type FieldTable, type FieldType, type NameOf, type ObjectOf } from './kit/field-table.ts'
export { headerName } from './kit/header-name.ts'
export * from './kit/listing.ts'
export { type KeysetPage, type Page, pageInput, pageOf } from './kit/page.ts'
export * from './kit/parameter-schemas.ts'
export { parseInput } from './kit/parse-input.ts'
export type { ReadContext } from './kit/store-context.ts'
export type { CoreTables } from './kit/tables.ts'
export { type DescribedLabel, describedLabelFields, type Label, labelFields, textColorOn } from './labels/label.ts'
export * from './labels/label-lists.ts'
export { groupLabels, projectLabels } from './labels/label-operations.ts'
export { promoteProjectLabel } from './labels/label-promotion.ts'
export * from './labels/label-subscriptions.ts'
export { highlightFile, renderMarkup } from './markup/render-markup.ts'
export { mayLeaveEach } from './members/may-leave.ts'
export { type Member, roleNames } from './members/member.ts'
export { type AddedMembers, groupMembers, listMembershipsOfEach, projectMembers } from './members/member-operations.ts'
export { insertMember } from './members/member-store.ts'
export { listProjectUsers } from './members/project-user-operations.ts'
export * from './merge-requests/approval-operations.ts'
export { cancelAutoMerge } from './merge-requests/auto-merge.ts'
export { autoMergeListener } from './merge-requests/automatic-merges.ts'
export { checkedMergeRequests } from './merge-requests/check-branches.ts'
export * from './merge-requests/closed-issues.ts'
export {
  addContextCommits,
  type ContextCommit,
  listContextCommits,
  removeContextCommits,
} from './merge-requests/context-commit-operations.ts'
export * from './merge-requests/label-work.ts'
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
} from './merge-requests/merge-request.ts'
export * from './merge-requests/merge-request-branches.ts'
export type { ShownMergeRequest } from './merge-requests/merge-request-details.ts'
export * from './merge-requests/merge-request-diff-operations.ts'
export * from './merge-requests/merge-request-listings.ts'
export { mergeMergeRequest } from './merge-requests/merge-request-merge.ts'
export * from './merge-requests/merge-request-operations.ts'
export * from './merge-requests/merge-request-pipelines.ts'
export * from './merge-requests/merge-request-settings.ts'
export * from './merge-requests/merge-request-tracking.ts'
export * from './merge-requests/merge-requests-of-commit.ts'
export {
  detailedMergeStatus,
  detailedMergeStatuses,
  hasConflicts,
  mergeStatus,
  mergeStatuses,
  needsRebase,
} from './merge-requests/merge-status.ts'
export * from './merge-requests/milestone-merge-requests.ts'
export * from './merge-requests/reviewer-operations.ts'
export { isNewCoreDatabase, migrateCore, pendingCoreMigrations } from './migrate-core.ts'
export {
  type DescribedMilestone,
  describedMilestoneFields,
  isMilestoneExpired,
  isMilestoneUpcoming,
  type Milestone,
  milestoneFields,
  milestoneWebPath,
} from './milestones/milestone.ts'
export * from './milestones/milestone-lists.ts'
export { groupMilestones, projectMilestones } from './milestones/milestone-operations.ts'
export * from './model/access-level.ts'
export { sshCloneUrl } from './model/clone-url.ts'
export { creationLevelFields } from './model/creation-levels.ts'
export { type FeatureLevel, groupFeatureFields, projectFeatureFields } from './model/feature-access.ts'
export type { Group } from './model/group.ts'
export { groupSettings } from './model/group-settings.ts'
export type { HookCallResult } from './model/hook-calls.ts'
export type { MarkupRequest } from './model/markup.ts'
export * from './model/project.ts'
export { projectSettings } from './model/project-settings.ts'
export type { SpamCheck, SpamReport, SpamSuspect, SpamVerdict } from './model/spam-check.ts'
export * from './model/user.ts'
export { userSettings } from './model/user-settings.ts'
export { type Discussion, isResolvable, type Note, type NotePosition, noteableIdOf } from './notes/note.ts'
export * from './notes/note-listings.ts'
export { findNote } from './notes/note-store.ts'
export { finishedPipelineEvent } from './notifications/finished-pipeline.ts'
export {
  effectiveSetting,
  isSelected,
  type NotificationLevel,
  type NotificationSetting,
  type NotificationSwitch,
  notificationLevels,
  notificationSwitches,
} from './notifications/notification-level.ts'
export { type NotificationEvent, recipientRules } from './notifications/notification-policy.ts'
export * from './notifications/notification-setting-operations.ts'
export {
  findNotification,
  insertNotification,
  type Notification,
  type NotifiedKind,
  type SubscribableKind,
} from './notifications/notification-store.ts'
export { listOwnLevels, type ParentLevel } from './notifications/own-settings.ts'
export { type Notified, type RecipientBatch, recipientsOf } from './notifications/recipients.ts'
export * from './notifications/unsubscribe-operations.ts'
export * from './oauth/application.ts'
export * from './oauth/application-operations.ts'
export * from './oauth/authorization.ts'
export * from './oauth/authorized-application-operations.ts'
export type { AuthorizedApplication } from './oauth/authorized-application-store.ts'
export type { ClientCredentials } from './oauth/client.ts'
export * from './oauth/device-grant.ts'
export * from './oauth/grant-token.ts'
export { claimNames, identityClaims, userinfoScopes } from './oauth/identity-claims.ts'
export * from './oauth/oauth-refusal.ts'
export * from './oauth/oauth-token.ts'
export { publishedKeys, rotateSigningKey, SIGNING_ALGORITHM } from './oauth/signing-key-store.ts'
export type { CallLimit } from './operations/call-limit.ts'
export * from './operations/context.ts'
export type { Described, SizedDescription } from './operations/description-store.ts'
export type { Changes, DomainEvent, PushedReference, WrittenPipeline } from './operations/event.ts'
export { requireDatabase } from './operations/health-store.ts'
export * from './operations/operation.ts'
export * from './operations/perform.ts'
export { noRequest, type RequestFacts, toRequestFacts } from './operations/request-facts.ts'
export { type ShownStanding, showStandings } from './operations/standings.ts'
export * from './operations/watched-reads.ts'
export { type Counted, type Limit, WindowCounter } from './operations/window-counter.ts'
export { type CommitStatus, listCommitStatuses } from './pipelines/commit-status-operations.ts'
export { type CommitWithPipeline, getCommitWithPipeline } from './pipelines/commit-with-pipeline.ts'
export {
  type ExportSettings,
  exportSignals,
  exportVariableKeys,
  loadExportSettings,
} from './pipelines/export-settings.ts'
export type { BridgeWithCommit, JobWithCommit } from './pipelines/job-commits.ts'
export * from './pipelines/job-listings.ts'
export {
  type JobOfPipeline,
  type Pipeline,
  pipelineScopes,
  type RecordedArtifacts,
  type RecordedJob,
  type RecordedRunner,
  type RecordedUser,
  type RecordedVariable,
} from './pipelines/pipeline.ts'
export * from './pipelines/pipeline-changes.ts'
export * from './pipelines/pipeline-details.ts'
export * from './pipelines/pipeline-listings.ts'
export * from './pipelines/pipeline-operations.ts'
export { isComplete, type PipelineStatus, pipelineStatuses } from './pipelines/pipeline-status.ts'
export { findPipelineByKey } from './pipelines/pipeline-store.ts'
export { postCommitStatus } from './pipelines/post-status.ts'
export { type JobGroup, jobGroupsOf, type Stage } from './pipelines/stage.ts'
export * from './pipelines/status-wording.ts'
export * from './pipelines/trace-instance-store.ts'
export { browseProjects } from './projects/project-listings.ts'
export * from './projects/project-lists.ts'
export * from './projects/project-operations.ts'
export {
  groupsOfProjects,
  namespaceOwnersOfProjects,
  topicsOfProjects,
  viewsOfProjects,
} from './projects/project-relations.ts'
export { featureSwitches } from './projects/project-settings-input.ts'
export { listStarrers, starProject, unstarProject } from './projects/project-star-operations.ts'
export type { Starrer } from './projects/project-star-store.ts'
export { type ProjectStatistics, statisticsOfProjects } from './projects/project-statistics.ts'
export { findFormerProject, getProject, insertProject } from './projects/project-store.ts'
export type { Namespace, ProjectView } from './projects/project-view.ts'
export { findEachProject, listProjectsOfEachGroup, listProjectsOfEachUser } from './projects/projects-of-parents.ts'
export { storedTextLimit } from './projects/stored-texts.ts'
export { linkTypes, nameOfRelease, type Release, type ReleaseLink, type ReleaseMilestone } from './releases/release.ts'
export {
  createReleaseLink,
  getReleaseLink,
  listReleaseLinks,
  removeReleaseLink,
  updateReleaseLink,
} from './releases/release-links.ts'
export * from './releases/release-listings.ts'
export { createRelease, getRelease, listReleases, removeRelease, updateRelease } from './releases/release-operations.ts'
export { findRelease, findReleaseById, linksOfReleases } from './releases/release-store.ts'
export { type Archive, getArchive } from './repositories/archive-operations.ts'
export { type Branch, createBranch, getBranch, listBranches, removeBranch } from './repositories/branch-operations.ts'
export { type Commit, type ListedCommit, signatureTime, type Trailer, titleOf } from './repositories/commit.ts'
export {
  type CommitWithStats,
  createCommit,
  getCommit,
  listCommitDiffs,
  listCommits,
} from './repositories/commit-operations.ts'
export * from './repositories/comparison-operations.ts'
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
} from './repositories/file-operations.ts'
export * from './repositories/history-operations.ts'
export { getProjectLanguages, type ProjectLanguages } from './repositories/language-operations.ts'
export { type LanguageShare, languageOf } from './repositories/languages.ts'
export * from './repositories/pick-operations.ts'
export type {
  CommitSummary,
  EntryOfTree,
  FileOfRepository,
  RepositoryReader,
  RepositoryTree,
} from './repositories/repository-reader.ts'
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
} from './repositories/repository-reads.ts'
export { createTag, getTag, listTags, removeTag, type Tag } from './repositories/tag-operations.ts'
export type { RepositoryTreeEntry } from './repositories/tree-entries.ts'
export { loadSecretsKey, readSecretsKey } from './secrets/secrets-key.ts'
export { acceptsSecretsKey, matchesSecretsKey, needsSecretsKey } from './secrets-key-check.ts'
export * from './sessions/session.ts'
export { PLATFORM_AVAILABILITY, platformNames, platformNamesFor } from './settings/platform-names.ts'
export { settingOf, settingsOf } from './settings/setting-of.ts'
export {
  getApplicationSettings,
  getCiApplicationSettings,
  updateApplicationSettings,
} from './settings/settings-operations.ts'
export { type SettingsRecord, settingsRecordFields } from './settings/settings-record.ts'
export { defaultOf as defaultOfSetting } from './settings/settings-store.ts'
export type { Setting } from './settings/table/setting.ts'
export { type SettingName, type SettingValues, settingRows, settingTable } from './settings/table/setting-table.ts'
export {
  type DescribedSnippet,
  describedSnippetFields,
  type Snippet,
  snippetClonePath,
  snippetFields,
  snippetFileWebPath,
  snippetWebPath,
} from './snippets/snippet.ts'
export { canCreatePersonalSnippet } from './snippets/snippet-access.ts'
export { snippetActionNames } from './snippets/snippet-actions.ts'
export * from './snippets/snippet-listings.ts'
export * from './snippets/snippet-mutations.ts'
export * from './snippets/snippet-operations.ts'
export * from './snippets/snippet-reads.ts'
export type { SnippetUserAgent } from './snippets/user-agent-store.ts'
export { startSweeping, sweep } from './sweep.ts'
export type { AccessToken, IssuedAccessToken } from './tokens/access-token.ts'
export * from './tokens/authenticated.ts'
export * from './tokens/bot-token-operations.ts'
export * from './tokens/identify.ts'
export * from './tokens/impersonation-token-operations.ts'
export { createJobToken, revokeJobToken } from './tokens/job-token.ts'
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
} from './tokens/personal-token-operations.ts'
export { ensureRootToken } from './tokens/root-token.ts'
export * from './tokens/scope.ts'
export * from './tokens/sudo.ts'
export * from './uploads/avatar-operations.ts'
export { listUserActivities, type UserActivity } from './users/user-activities.ts'
export * from './users/user-listings.ts'
export * from './users/user-lists.ts'
export * from './users/user-operations.ts'
export { profileOf } from './users/user-profile.ts'
export {
  findUser,
  findUserByIdOrUsername,
  findUserByUsername,
  findUsers,
  findUsersByUsername,
  getUser,
  insertUser,
} from './users/user-store.ts'
export type { VariableCircumstances } from './variables/effective-variables.ts'
export { maxVariables, type ShownVariable, type Variable, variableFields, variableTypes } from './variables/variable.ts'
export { listInheritedVariablesOfEach, listInstanceVariables } from './variables/variable-lists.ts'
export { groupVariables, projectVariables } from './variables/variable-operations.ts'
export type { InheritedVariable } from './variables/variable-store.ts'
export * from './version.ts'
export type { WikiAttachment } from './wikis/wiki-attachment.ts'
export {
  groupWikiAttachments,
  maxAttachmentBytes,
  projectWikiAttachments,
  type WikiFile,
} from './wikis/wiki-attachment-operations.ts'
export {
  contentsOfWikiPages,
  idsOfWikiPages,
  type ListedWikiPage,
  listWikiPagesOfEach,
  subscriptionsToWikiPages,
} from './wikis/wiki-listings.ts'
export { groupWikis, projectWikis } from './wikis/wiki-operations.ts'
export { type WikiPage, type WikiPageWithContent, wikiPageWebPath } from './wikis/wiki-page.ts'
export { subscribeToWikiPage } from './wikis/wiki-subscriptions.ts'
