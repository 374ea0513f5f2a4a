import { projectFeatureFields } from '../../base/model/feature-access.ts'
import type { Project } from '../../base/model/project.ts'
import { projectSettings } from '../../base/model/project-settings.ts'
import {
  comparedFields,
  comparedMembers,
  comparedWithin,
  type RecordedKind,
} from '../../base/operations/record-change.ts'

export const projectEvents: RecordedKind<Project> = {
  noun: 'project',
  compared: {
    ...comparedMembers<Project>()(
      'groupId',
      'ownerId',
      'path',
      'fullPath',
      'name',
      'description',
      'visibility',
      'defaultBranch',
      'isArchived',
      'requestAccessEnabled',
      'avatar',
    ),
    ...comparedWithin<Project, 'features'>('features', comparedFields(projectFeatureFields)),
    ...comparedWithin<Project, 'settings'>('settings', comparedFields(projectSettings)),
  },
}
