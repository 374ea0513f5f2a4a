import { creationLevelFields } from '../../base/model/creation-levels.ts'
import { groupFeatureFields } from '../../base/model/feature-access.ts'
import type { Group } from '../../base/model/group.ts'
import { groupSettings } from '../../base/model/group-settings.ts'
import {
  comparedFields,
  comparedMembers,
  comparedWithin,
  type RecordedKind,
} from '../../base/operations/record-change.ts'

export const groupEvents: RecordedKind<Group> = {
  noun: 'group',
  compared: {
    ...comparedMembers<Group>()(
      'parentId',
      'path',
      'fullPath',
      'name',
      'description',
      'visibility',
      'requestAccessEnabled',
      'defaultBranch',
      'avatar',
    ),
    ...comparedWithin<Group, 'features'>('features', comparedFields(groupFeatureFields)),
    ...comparedWithin<Group, 'settings'>('settings', comparedFields(groupSettings)),
    ...comparedWithin<Group, 'creation'>('creation', comparedFields(creationLevelFields)),
  },
}
