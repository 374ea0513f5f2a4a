import type { RouteParameters } from '../../routing/route.ts'
import { attributesAndStatistics, customAttributes, noCustomRoles, noDelayedDeletion, noStorages } from './common.ts'
import { cursorList, orderedList, pagedList } from './lists.ts'

const absent = { ...customAttributes, ...noDelayedDeletion, ...noStorages }

export const groupList = {
  noEffect: { ...cursorList.noEffect, ...attributesAndStatistics },
  refused: absent,
} satisfies RouteParameters

export const subgroupList = {
  noEffect: { ...pagedList.noEffect, ...attributesAndStatistics },
  refused: absent,
} satisfies RouteParameters

export const memberList = {
  noEffect: { ...orderedList.noEffect, show_seat_info: 'members do not use paid seats' },
} satisfies RouteParameters

export const newMember = {
  noEffect: { tasks_to_be_done: 'an onboarding list that GitLab no longer has' },
  refused: noCustomRoles,
} satisfies RouteParameters

/** gitbeaker sends the parameters of custom roles to the members of a group. */
export const newGroupMember = {
  ...newMember,
  refused: {
    ...newMember.refused,
    base_access_level: 'there are no custom roles',
    read_code: 'there are no custom roles',
  },
} satisfies RouteParameters

export const changedMember = { refused: noCustomRoles } satisfies RouteParameters
