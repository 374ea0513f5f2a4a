import type { User } from '../../base/model/user.ts'
import { userSettings } from '../../base/model/user-settings.ts'
import {
  comparedFields,
  comparedMembers,
  comparedWithin,
  type RecordedKind,
} from '../../base/operations/record-change.ts'

export const userEvents: RecordedKind<User> = {
  noun: 'user',
  compared: {
    ...comparedMembers<User>()(
      'username',
      'name',
      'email',
      'publicEmail',
      'state',
      'isAdministrator',
      'isExternal',
      'canCreateGroup',
      'projectsLimit',
      'avatar',
    ),
    ...comparedWithin<User, 'settings'>('settings', comparedFields(userSettings)),
  },
}
