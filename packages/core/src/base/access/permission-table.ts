import { type AccessLevel, accessLevels } from '../model/access-level.ts'
import type { Feature } from '../model/feature-access.ts'

const { minimal, guest, planner, reporter, developer, maintainer, owner } = accessLevels

/** The roles that have a permission. Only the highest role of a user counts. Administrators have all permissions. */
export type RoleRule =
  | { /** The lowest role; higher ones have the permission too. */ readonly least: AccessLevel; readonly roles?: never }
  /** The full list of roles, for a permission that a higher role lacks: Planners edit wikis, Reporters do not. */
  | { readonly roles: readonly AccessLevel[]; readonly least?: never }

export type PermissionRow = RoleRule & PermissionDetails

interface PermissionDetails {
  /**
   * The callers who have the permission without a role, provided that the visibility of the group or project lets them
   * see it.
   */
  readonly visitors?: 'anyone' | 'signed_in'
  /** Whether the permission on a group includes users that only have a role in something below it. */
  readonly fromBelow?: true
  /** The permission does not apply to archived projects. */
  readonly endsWithArchiving?: true
  /** At least one of these features must be enabled, and open to the caller: visitors need one that is not private. */
  readonly features?: readonly Feature[]
}

const repository = { features: ['repository'] } as const
const issues = { features: ['issues'] } as const
const mergeRequests = { features: ['mergeRequests'] } as const
const builds = { features: ['builds'] } as const
const snippets = { features: ['snippets'] } as const
const wiki = { features: ['wiki'] } as const
const releases = { features: ['releases'] } as const
const environments = { features: ['environments'] } as const
const featureFlags = { features: ['featureFlags'] } as const
/** Labels and milestones are available while issues or merge requests are enabled. */
const planning = { features: ['issues', 'mergeRequests'] } as const

/** The permissions on groups and projects. */
export const permissionTable = {
  read_group: { least: minimal, visitors: 'anyone', fromBelow: true },
  admin_group: { least: owner },
  remove_group: { least: owner },
  create_subgroup: { least: maintainer },
  create_project: { least: developer },

  read_project: { least: guest, visitors: 'anyone' },
  star_project: { least: guest, visitors: 'signed_in' },
  read_statistics: { least: reporter },
  admin_project: { least: maintainer },
  change_project_visibility: { least: owner },
  remove_project: { least: owner },
  archive_project: { least: owner },
  transfer_project: { least: owner },

  read_members: { least: guest, visitors: 'anyone' },
  /** To see one's own request, if not those of others. */
  read_access_request: { least: minimal, visitors: 'signed_in', fromBelow: true },
  /** To have notification settings of one's own. */
  set_notifications: { least: minimal, visitors: 'signed_in', fromBelow: true },
  admin_project_members: { least: maintainer },
  admin_group_members: { least: owner },
  admin_access_tokens: { least: maintainer },
  admin_group_access_tokens: { least: owner },
  admin_variables: { least: maintainer },
  admin_group_variables: { least: owner },
  read_deploy_token: { least: maintainer },
  admin_deploy_token: { least: maintainer },
  admin_group_deploy_token: { least: owner },
  read_hook: { least: maintainer },
  admin_hook: { least: maintainer },

  read_repository: { least: reporter, visitors: 'anyone', ...repository },
  push_code: { least: developer, endsWithArchiving: true, ...repository },

  read_label: { least: minimal, visitors: 'anyone', fromBelow: true, ...planning },
  subscribe_label: { least: minimal, visitors: 'signed_in', fromBelow: true, ...planning },
  admin_label: { least: planner, endsWithArchiving: true, ...planning },
  read_issue: { least: guest, visitors: 'anyone', ...issues },
  read_confidential_issue: { least: planner, ...issues },
  subscribe_issue: { least: guest, visitors: 'signed_in', ...issues },
  create_issue: { least: guest, visitors: 'signed_in', endsWithArchiving: true, ...issues },
  update_issue: { least: planner, endsWithArchiving: true, ...issues },
  update_own_issue: { least: guest, visitors: 'signed_in', endsWithArchiving: true, ...issues },
  /** Allows choosing the iid and the times of an issue. */
  set_issue_numbers: { least: owner, endsWithArchiving: true, ...issues },
  remove_issue: { least: owner, endsWithArchiving: true, ...issues },
  read_merge_request: { least: reporter, visitors: 'anyone', ...mergeRequests },
  subscribe_merge_request: { least: reporter, visitors: 'signed_in', ...mergeRequests },
  create_merge_request: { least: developer, endsWithArchiving: true, ...mergeRequests },
  update_merge_request: { least: developer, endsWithArchiving: true, ...mergeRequests },
  update_own_merge_request: { least: reporter, visitors: 'signed_in', endsWithArchiving: true, ...mergeRequests },
  approve_merge_request: { least: developer, endsWithArchiving: true, ...mergeRequests },
  remove_merge_request: { least: owner, endsWithArchiving: true, ...mergeRequests },

  read_pipeline: { least: guest, visitors: 'anyone', ...builds },
  create_pipeline_record: { least: developer, endsWithArchiving: true, ...builds },
  remove_pipeline: { least: owner, endsWithArchiving: true, ...builds },

  /** Which snippets of the project a caller sees depends on their visibility too. */
  read_snippet: { least: guest, visitors: 'anyone', ...snippets },
  create_snippet: { least: reporter, endsWithArchiving: true, ...snippets },
  update_own_snippet: { least: guest, visitors: 'signed_in', endsWithArchiving: true, ...snippets },
  remove_own_snippet: { least: reporter, endsWithArchiving: true, ...snippets },
  admin_snippet: { least: maintainer, endsWithArchiving: true, ...snippets },

  read_release: { least: guest, visitors: 'anyone', ...releases },
  write_release: { least: developer, endsWithArchiving: true, ...releases },

  read_environment: { least: reporter, ...environments },
  write_environment: { least: developer, endsWithArchiving: true, ...environments },
  remove_deployment: { least: maintainer, endsWithArchiving: true, ...environments },

  read_feature_flag: { least: developer, ...featureFlags },
  admin_feature_flag: { least: developer, endsWithArchiving: true, ...featureFlags },

  /** The object that a note is about needs its own permission to be read. */
  create_note: { least: guest, visitors: 'signed_in', endsWithArchiving: true },
  admin_note: { least: maintainer, endsWithArchiving: true },
  resolve_note: { least: developer, endsWithArchiving: true },
  read_internal_note: { least: planner },
  /** Allows choosing the time of a note. */
  set_note_time: { least: owner, endsWithArchiving: true },

  read_wiki: { least: guest, visitors: 'anyone', ...wiki },
  write_wiki: { roles: [planner, developer, maintainer, owner], endsWithArchiving: true, ...wiki },
  remove_wiki: { roles: [planner, maintainer, owner], endsWithArchiving: true, ...wiki },

  read_milestone: { least: minimal, visitors: 'signed_in', fromBelow: true, ...planning },
  admin_milestone: { least: planner, endsWithArchiving: true, ...planning },
  remove_milestone: { least: developer, endsWithArchiving: true, ...planning },
} as const satisfies Record<string, PermissionRow>
export type Permission = keyof typeof permissionTable
