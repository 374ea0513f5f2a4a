import type { User } from '../model/user.ts'
import { userSettings } from '../model/user-settings.ts'
import { comparedFields, comparedMembers, comparedWithin, type RecordedKind } from '../operations/record-change.ts'

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
