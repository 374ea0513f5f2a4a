import { mayLeaveEach, mayRequestAccessToEach, type Project } from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import { type PermissionFields, permissionFields, standingIn } from './access-levels.ts'

const permissions = {
  readProject: 'read_project',
  adminProject: 'admin_project',
  archiveProject: 'archive_project',
  removeProject: 'remove_project',
  renameProject: 'admin_project',
  changeNamespace: 'transfer_project',
  changeVisibilityLevel: 'change_project_visibility',
  forkProject: 'never',
  downloadCode: 'read_repository',
  pushCode: 'push_code',
  createIssue: 'create_issue',
  adminIssue: 'update_issue',
  createLabel: 'admin_label',
  createMergeRequestFrom: 'create_merge_request',
  createMergeRequestIn: 'create_merge_request',
  readMergeRequest: 'read_merge_request',
  createPipeline: 'create_pipeline_record',
  readCommitStatus: 'read_pipeline',
  createSnippet: 'create_snippet',
  readWiki: 'read_wiki',
  createWiki: 'never',
  updateWiki: 'never',
  destroyWiki: 'never',
  adminWiki: 'never',
  readProjectMember: 'read_members',
  uploadFile: 'never',
  viewEditPage: 'admin_project',
} as const satisfies PermissionFields

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    ProjectPermissions: Project
  }
}

export function addProjectPermissions({ builder }: Kit): void {
  builder.objectType('ProjectPermissions', {
    description: 'What the caller may do in a project',
    fields: (t) => ({
      ...permissionFields(t, permissions, standingIn),
      requestAccess: t.boolean({
        nullable: false,
        description: 'True if the caller has no role here and could request one',
        resolve: (project, _args, context) => loadBatched(context, mayRequestAccessToEach, project),
      }),
      canLeave: t.boolean({
        nullable: false,
        description: 'True for direct members, unless the project is in their own namespace',
        resolve: (project, _args, context) => loadBatched(context, mayLeaveEach, project),
      }),
    }),
  })
}
