import { groupSettings } from '@penstock/core'
import type { RouteParameters } from '../../routing/route.ts'
import { attributesAndStatistics, customAttributes, noCustomRoles } from './absent-features.ts'
import { cursorList, orderedList } from './lists.ts'
import { settingNames } from './stored-settings.ts'

export const groupList = {
  noEffect: { ...cursorList.noEffect, ...attributesAndStatistics },
  refused: customAttributes,
} satisfies RouteParameters

export const subgroupList = {
  noEffect: groupList.noEffect,
  refused: { ...customAttributes, top_level_only: 'no group below another is at the top' },
} satisfies RouteParameters

const onePage = 'one group has no pages'

export const oneGroup = {
  noEffect: {
    with_custom_attributes: attributesAndStatistics.with_custom_attributes!,
    order_by: onePage,
    sort: onePage,
    page: onePage,
    per_page: onePage,
    pagination: onePage,
    page_token: onePage,
  },
} satisfies RouteParameters

/** Some settings are refused because they would suggest that access is limited, although they have no effect. */
export const changedGroup = {
  stored: settingNames(groupSettings).filter((name) => name !== 'default_branch_protection'),
  refused: {
    organization_id: 'there are no organizations',
    require_two_factor_authentication: 'there is no second factor',
    step_up_auth_required_oauth_provider: 'there is no second factor',
    ip_restriction_ranges: 'access is not limited by address',
    allowed_email_domains_list: 'members are not limited by domain',
  },
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

export const removedMember = {
  refused: { unassign_issuables: 'issues and merge requests keep their assignees' },
} satisfies RouteParameters
