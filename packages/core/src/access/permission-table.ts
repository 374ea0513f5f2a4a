import { type AccessLevel, accessLevels } from '../model/access-level.ts'

const { minimal, guest, planner, reporter, developer, maintainer, owner } = accessLevels

export interface PermissionRow {
  /** The lowest role that has the permission. Administrators have all permissions. */
  readonly least: AccessLevel
  /** Who has the permission without a role, if the visibility of the group or project lets them see it. */
  readonly visitors?: 'anyone' | 'signed_in'
  /** Whether the permission on a group includes users that only have a role in something below it. */
  readonly fromBelow?: true
  /** The permission does not apply to archived projects. */
  readonly endsWithArchiving?: true
}

/** The permissions on groups and projects. */
export const permissionTable = {
  read_group: { least: minimal, visitors: 'anyone', fromBelow: true },
  admin_group: { least: owner },
  remove_group: { least: owner },
  create_subgroup: { least: maintainer },
  create_project: { least: developer },

  read_project: { least: guest, visitors: 'anyone' },
  admin_project: { least: maintainer },
  change_project_visibility: { least: owner },
  remove_project: { least: owner },
  archive_project: { least: owner },
  transfer_project: { least: owner },

  read_members: { least: guest, visitors: 'anyone' },
  admin_project_members: { least: maintainer },
  admin_group_members: { least: owner },
  admin_access_tokens: { least: maintainer },
  admin_group_access_tokens: { least: owner },
  admin_variables: { least: maintainer },
  admin_group_variables: { least: owner },

  read_repository: { least: reporter, visitors: 'anyone' },
  push_code: { least: developer, endsWithArchiving: true },

  read_label: { least: minimal, visitors: 'anyone', fromBelow: true },
  admin_label: { least: planner, endsWithArchiving: true },
  read_issue: { least: guest, visitors: 'anyone' },
  read_confidential_issue: { least: planner },
  create_issue: { least: guest, visitors: 'signed_in', endsWithArchiving: true },
  update_issue: { least: planner, endsWithArchiving: true },
  update_own_issue: { least: guest, visitors: 'signed_in', endsWithArchiving: true },
  remove_issue: { least: owner, endsWithArchiving: true },
  read_merge_request: { least: reporter, visitors: 'anyone' },
  create_merge_request: { least: developer, endsWithArchiving: true },
  update_merge_request: { least: developer, endsWithArchiving: true },
  update_own_merge_request: { least: reporter, visitors: 'signed_in', endsWithArchiving: true },
  remove_merge_request: { least: owner, endsWithArchiving: true },

  read_pipeline: { least: guest, visitors: 'anyone' },
  create_pipeline_record: { least: developer, endsWithArchiving: true },
  remove_pipeline: { least: owner, endsWithArchiving: true },

  read_milestone: { least: minimal, visitors: 'signed_in', fromBelow: true },
  admin_milestone: { least: planner, endsWithArchiving: true },
  remove_milestone: { least: developer, endsWithArchiving: true },
} as const satisfies Record<string, PermissionRow>
export type Permission = keyof typeof permissionTable
