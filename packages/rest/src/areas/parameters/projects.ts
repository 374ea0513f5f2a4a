import type { RouteParameters } from '../../routing/route.ts'
import { attributesAndStatistics, customAttributes, noDelayedDeletion, noStorages } from './common.ts'
import { cursorList } from './lists.ts'

const noChecksums = 'there are no checksums'
const noImport = 'projects are not imported'
const noMirrors = 'there are no mirrors'
const noTemplates = 'there are no project templates'

/** The lists of projects. */
export const projectList = {
  noEffect: {
    ...cursorList.noEffect,
    ...attributesAndStatistics,
    include_hidden: 'projects are never hidden',
    include_pending_delete: 'a deletion is immediate',
  },
  refused: {
    ...customAttributes,
    ...noDelayedDeletion,
    ...noStorages,
    imported: noImport,
    repository_checksum_failed: noChecksums,
    wiki_checksum_failed: noChecksums,
  },
} satisfies RouteParameters

export const groupProjectList = {
  noEffect: { ...projectList.noEffect },
  refused: { with_security_reports: 'there are no security reports' },
} satisfies RouteParameters

export const oneProject = {
  noEffect: {
    ...attributesAndStatistics,
    license: 'the license is not part of the answer',
    container_registry_access_level: 'a setting, which a read does not change',
  },
} satisfies RouteParameters

/** The settings of a project that belong to features that do not exist, and would change what the project does. */
export const projectSettings = {
  refused: {
    ...noStorages,
    approvals_before_merge: 'there are no approvals',
    import_url: noImport,
    mirror: noMirrors,
    mirror_trigger_builds: noMirrors,
  },
} satisfies RouteParameters

export const newProject = {
  refused: {
    ...projectSettings.refused,
    group_with_project_templates_id: noTemplates,
    template_name: noTemplates,
    template_project_id: noTemplates,
    use_custom_template: noTemplates,
  },
} satisfies RouteParameters

export const changedProject = {
  refused: {
    ...projectSettings.refused,
    mirror_branch_regex: noMirrors,
    mirror_overwrites_diverged_branches: noMirrors,
    mirror_user_id: noMirrors,
    only_mirror_protected_branches: noMirrors,
  },
} satisfies RouteParameters
