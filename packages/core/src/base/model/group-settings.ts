import { z } from 'zod'
import { bounded, MAX_INTEGER, off, on } from '../kit/common-fields.ts'
import { flag, list, type ObjectOf, object, oneOf } from '../kit/field-table.ts'
import { accessLevels } from './access-level.ts'
import { branchProtectionMembers } from './branch-protection.ts'

const minutes = <Column extends string>(column: Column) => bounded(column, 0, MAX_INTEGER).optional()

const levels = z.array(z.object({ access_level: z.int() })).max(10)
const branchProtection = z.object(
  branchProtectionMembers(levels.default([{ access_level: accessLevels.maintainer }]), z.boolean().default(false)),
)

/** The settings of a group. Only `defaultBranchProtection` has an effect here; the others are stored and returned. */
export const groupSettings = {
  allowMergeOnSkippedPipeline: off('allow_merge_on_skipped_pipeline'),
  allowPersonalSnippets: on('allow_personal_snippets'),
  autoBanUserOnExcessiveProjectsDownload: off('auto_ban_user_on_excessive_projects_download'),
  autoDevopsEnabled: flag('auto_devops_enabled').optional(),
  defaultBranchProtection: bounded('default_branch_protection', 0, 4).default(2),
  crmEnabled: on('crm_enabled'),
  defaultBranchProtectionDefaults: object(
    'default_branch_protection_defaults',
    branchProtection,
    branchProtection.parse({}),
  ),
  duoAvailability: oneOf('duo_availability', ['default_on', 'default_off', 'never_on']).default('default_off'),
  duoFeaturesEnabled: off('duo_features_enabled'),
  emailsEnabled: on('emails_enabled'),
  enabledGitAccessProtocol: oneOf('enabled_git_access_protocol', ['all', 'ssh', 'http']),
  experimentFeaturesEnabled: off('experiment_features_enabled'),
  extraSharedRunnersMinutesLimit: minutes('extra_shared_runners_minutes_limit'),
  fileTemplateProjectId: bounded('file_template_project_id', 1, MAX_INTEGER).optional(),
  lfsEnabled: off('lfs_enabled'),
  lockDuoFeaturesEnabled: off('lock_duo_features_enabled'),
  lockMathRenderingLimitsEnabled: off('lock_math_rendering_limits_enabled'),
  mathRenderingLimitsEnabled: on('math_rendering_limits_enabled'),
  maxArtifactsSize: bounded('max_artifacts_size', 0, MAX_INTEGER).optional(),
  membershipLock: off('membership_lock'),
  mentionsDisabled: off('mentions_disabled'),
  onlyAllowMergeIfAllDiscussionsAreResolved: off('only_allow_merge_if_all_discussions_are_resolved'),
  onlyAllowMergeIfPipelineSucceeds: off('only_allow_merge_if_pipeline_succeeds'),
  preventForkingOutsideGroup: off('prevent_forking_outside_group'),
  preventSharingGroupsOutsideHierarchy: off('prevent_sharing_groups_outside_hierarchy'),
  shareWithGroupLock: off('share_with_group_lock'),
  sharedRunnersMinutesLimit: minutes('shared_runners_minutes_limit'),
  sharedRunnersSetting: oneOf('shared_runners_setting', [
    'enabled',
    'disabled_and_overridable',
    'disabled_and_unoverridable',
    'disabled_with_override',
  ]),
  twoFactorGracePeriod: bounded('two_factor_grace_period', 0, MAX_INTEGER).default(48),
  uniqueProjectDownloadLimit: bounded('unique_project_download_limit', 0, 10_000).default(0),
  uniqueProjectDownloadLimitIntervalInSeconds: bounded(
    'unique_project_download_limit_interval_in_seconds',
    0,
    10 * 86_400,
  ).default(0),
  uniqueProjectDownloadLimitAllowlist: list('unique_project_download_limit_allowlist', z.string().max(255)).parse(
    z.array(z.string().max(255)).max(100),
  ),
  uniqueProjectDownloadLimitAlertlist: list('unique_project_download_limit_alertlist', z.int()).parse(
    z.array(z.int()).max(100),
  ),
  webBasedCommitSigningEnabled: off('web_based_commit_signing_enabled'),
}

export interface GroupSettings extends ObjectOf<typeof groupSettings> {}
