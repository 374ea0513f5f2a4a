import { projectFeatureFields } from '../model/feature-access.ts'
import type { Project } from '../model/project.ts'
import { projectSettings } from '../model/project-settings.ts'
import { comparedFields, comparedMembers, comparedWithin, type RecordedKind } from '../operations/record-change.ts'

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
