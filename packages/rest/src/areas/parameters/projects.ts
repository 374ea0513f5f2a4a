import { projectSettings } from '@penstock/core'
import type { RouteParameters } from '../../routing/route.ts'
import { attributesAndStatistics, customAttributes, noStorages } from './absent-features.ts'
import { cursorList } from './lists.ts'
import { settingNames } from './stored-settings.ts'

const noChecksums = 'there are no checksums'
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
    with_programming_language: 'lists do not know the languages of repositories',
    topic_id: 'topics have names only',
    repository_checksum_failed: noChecksums,
    wiki_checksum_failed: noChecksums,
  },
} satisfies RouteParameters

export const groupProjectList = {
  noEffect: { ...projectList.noEffect, with_shared: 'projects cannot be shared with groups' },
  refused: { ...projectList.refused, with_security_reports: 'there are no security reports' },
} satisfies RouteParameters

export const oneProject = {
  noEffect: {
    ...attributesAndStatistics,
    license: 'the license is not part of the answer',
    container_registry_access_level: 'a setting, which a read does not change',
  },
} satisfies RouteParameters

export const sharedProjectList = {
  ...groupProjectList,
  noEffect: { ...groupProjectList.noEffect, pagination: 'the list is empty' },
} satisfies RouteParameters

export const changedProject = {
  stored: settingNames(projectSettings),
  refused: {
    ...noStorages,
    import_url: 'projects are not imported',
    container_expiration_policy_attributes: 'there is no container registry',
  },
} satisfies RouteParameters

export const newProject = {
  ...changedProject,
  refused: {
    ...changedProject.refused,
    group_with_project_templates_id: noTemplates,
    template_name: noTemplates,
    template_project_id: noTemplates,
    use_custom_template: noTemplates,
  },
} satisfies RouteParameters
