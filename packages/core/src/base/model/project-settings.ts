import { z } from 'zod'
import { bounded, MAX_INTEGER, off, on } from '../kit/common-fields.ts'
import { list, maxLength, type ObjectOf, oneOf, text } from '../kit/field-table.ts'
import { featureLevels } from './feature-access.ts'

const name = <Column extends string>(column: Column) => text(column).check(maxLength(255))
/** A text for commit messages and branch names. Limited, because lists of projects contain it. */
const template = <Column extends string>(column: Column) => text(column).check(maxLength(1_000)).optional()
/** The access level of a feature that this service does not have. */
const absent = <Column extends string>(column: Column) => oneOf(column, featureLevels).default('disabled')

const MONTH_SECONDS = 30 * 86_400
const YEAR_SECONDS = 365 * 86_400

/**
 * The settings of a project that are stored and returned. Settings of features that exist here are used by these
 * features; all others have no effect. Switches of features that this service does not have are off by default, except
 * where GitLab's default describes how something else behaves.
 */
export const projectSettings = {
  analyticsAccessLevel: absent('analytics_access_level'),
  containerRegistryAccessLevel: absent('container_registry_access_level'),
  forkingAccessLevel: absent('forking_access_level'),
  infrastructureAccessLevel: absent('infrastructure_access_level'),
  modelExperimentsAccessLevel: absent('model_experiments_access_level'),
  modelRegistryAccessLevel: absent('model_registry_access_level'),
  monitorAccessLevel: absent('monitor_access_level'),
  operationsAccessLevel: absent('operations_access_level'),
  packageRegistryAccessLevel: oneOf('package_registry_access_level', [...featureLevels, 'public']).default('disabled'),
  pagesAccessLevel: oneOf('pages_access_level', [...featureLevels, 'public']).default('disabled'),
  requirementsAccessLevel: absent('requirements_access_level'),
  securityAndComplianceAccessLevel: absent('security_and_compliance_access_level'),
  emailsEnabled: on('emails_enabled'),
  lfsEnabled: off('lfs_enabled'),
  cicdCatalogEnabled: off('cicd_catalog_enabled'),
  packagesEnabled: off('packages_enabled'),
  serviceDeskEnabled: off('service_desk_enabled'),
  sharedRunnersEnabled: off('shared_runners_enabled'),
  groupRunnersEnabled: off('group_runners_enabled'),
  enforceAuthChecksOnUploads: on('enforce_auth_checks_on_uploads'),
  externalAuthorizationClassificationLabel: name('external_authorization_classification_label').default(''),
  showDefaultAwardEmojis: on('show_default_award_emojis'),
  showDiffPreviewInEmail: on('show_diff_preview_in_email'),
  warnAboutPotentiallyUnwantedCharacters: on('warn_about_potentially_unwanted_characters'),
  preReceiveSecretDetectionEnabled: off('pre_receive_secret_detection_enabled'),
  autoDuoCodeReviewEnabled: off('auto_duo_code_review_enabled'),

  mergeMethod: oneOf('merge_method', ['merge', 'rebase_merge', 'ff']).default('merge'),
  squashOption: oneOf('squash_option', ['never', 'always', 'default_on', 'default_off']).default('default_off'),
  mergeCommitTemplate: template('merge_commit_template'),
  squashCommitTemplate: template('squash_commit_template'),
  suggestionCommitMessage: name('suggestion_commit_message').optional(),
  issueBranchTemplate: name('issue_branch_template').optional(),
  issuesTemplate: template('issues_template'),
  mergeRequestsTemplate: template('merge_requests_template'),
  allowMergeOnSkippedPipeline: off('allow_merge_on_skipped_pipeline'),
  onlyAllowMergeIfPipelineSucceeds: off('only_allow_merge_if_pipeline_succeeds'),
  onlyAllowMergeIfAllDiscussionsAreResolved: off('only_allow_merge_if_all_discussions_are_resolved'),
  onlyAllowMergeIfAllStatusChecksPassed: off('only_allow_merge_if_all_status_checks_passed'),
  approvalsBeforeMerge: bounded('approvals_before_merge', 0, 100).default(0),
  removeSourceBranchAfterMerge: on('remove_source_branch_after_merge'),
  resolveOutdatedDiffDiscussions: off('resolve_outdated_diff_discussions'),
  printingMergeRequestLinkEnabled: on('printing_merge_request_link_enabled'),
  preventMergeWithoutJiraIssue: off('prevent_merge_without_jira_issue'),
  autocloseReferencedIssues: on('autoclose_referenced_issues'),
  mrDefaultTargetSelf: off('mr_default_target_self'),
  mergeRequestTitleRegex: name('merge_request_title_regex').optional(),
  mergeRequestTitleRegexDescription: name('merge_request_title_regex_description').optional(),
  mrDefaultTitleTemplate: template('mr_default_title_template'),
  protectMergeRequestPipelines: off('protect_merge_request_pipelines'),
  reviewerAssignmentStrategy: name('reviewer_assignment_strategy').optional(),
  mergePipelinesEnabled: off('merge_pipelines_enabled'),
  mergeTrainsEnabled: off('merge_trains_enabled'),
  mergeTrainsSkipTrainAllowed: off('merge_trains_skip_train_allowed'),

  autoCancelPendingPipelines: oneOf('auto_cancel_pending_pipelines', ['enabled', 'disabled']),
  autoDevopsEnabled: off('auto_devops_enabled'),
  autoDevopsDeployStrategy: oneOf('auto_devops_deploy_strategy', ['continuous', 'manual', 'timed_incremental']),
  allowPipelineTriggerApproveDeployment: off('allow_pipeline_trigger_approve_deployment'),
  buildCoverageRegex: name('build_coverage_regex').optional(),
  buildGitStrategy: oneOf('build_git_strategy', ['fetch', 'clone']),
  buildTimeout: bounded('build_timeout', 600, MONTH_SECONDS).default(3_600),
  ciAllowForkPipelinesToRunInParentProject: on('ci_allow_fork_pipelines_to_run_in_parent_project'),
  ciConfigPath: name('ci_config_path').optional(),
  ciDefaultGitDepth: bounded('ci_default_git_depth', 0, 1_000).default(20),
  ciDeletePipelinesInSeconds: bounded('ci_delete_pipelines_in_seconds', 86_400, YEAR_SECONDS).optional(),
  ciIdTokenSubClaimComponents: list('ci_id_token_sub_claim_components', z.string().max(255))
    .parse(z.array(z.string().max(255)).max(10))
    .default(['project_path', 'ref_type', 'ref']),
  ciDisplayPipelineVariables: off('ci_display_pipeline_variables'),
  ciForwardDeploymentEnabled: on('ci_forward_deployment_enabled'),
  ciForwardDeploymentRollbackAllowed: on('ci_forward_deployment_rollback_allowed'),
  ciJobTokenScopeEnabled: off('ci_job_token_scope_enabled'),
  ciPipelineVariablesMinimumOverrideRole: oneOf('ci_pipeline_variables_minimum_override_role', [
    'developer',
    'maintainer',
    'owner',
    'no_one_allowed',
  ]),
  ciPushRepositoryForJobTokenAllowed: off('ci_push_repository_for_job_token_allowed'),
  ciRestrictPipelineCancellationRole: oneOf('ci_restrict_pipeline_cancellation_role', [
    'developer',
    'maintainer',
    'no_one',
  ]),
  ciSeparatedCaches: on('ci_separated_caches'),
  keepLatestArtifact: on('keep_latest_artifact'),
  maxArtifactsSize: bounded('max_artifacts_size', 0, MAX_INTEGER).optional(),
  publicJobs: on('public_jobs'),
  resourceGroupDefaultProcessMode: oneOf('resource_group_default_process_mode', [
    'unordered',
    'oldest_first',
    'newest_first',
    'newest_ready_first',
  ]),
  restrictUserDefinedVariables: off('restrict_user_defined_variables'),

  mirror: off('mirror'),
  mirrorBranchRegex: name('mirror_branch_regex').optional(),
  mirrorOverwritesDivergedBranches: off('mirror_overwrites_diverged_branches'),
  mirrorTriggerBuilds: off('mirror_trigger_builds'),
  mirrorUserId: bounded('mirror_user_id', 1, MAX_INTEGER).optional(),
  onlyMirrorProtectedBranches: off('only_mirror_protected_branches'),
}

export interface ProjectSettings extends ObjectOf<typeof projectSettings> {}
