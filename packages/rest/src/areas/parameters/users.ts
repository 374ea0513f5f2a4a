import { userSettings } from '@penstock/core'
import type { RouteParameters } from '../../routing/route.ts'
import { customAttributes } from './absent-features.ts'
import { cursorList, wholeList } from './lists.ts'
import { settingNames } from './stored-settings.ts'

const onlyInClient = 'selects a type of gitbeaker'
const noIdentities = 'users have no identities of other providers'

export const ownUser = { noEffect: { as_admin: onlyInClient } } satisfies RouteParameters

export const oneUser = {
  noEffect: { as_admin: onlyInClient, with_custom_attributes: 'there are no custom attributes to add' },
} satisfies RouteParameters

export const userList = {
  noEffect: {
    ...cursorList.noEffect,
    ...oneUser.noEffect,
    exclude_internal: 'there are no internal users',
    skip_ldap: 'there are no users of LDAP',
    status: 'not a parameter of this list in GitLab',
  },
  refused: {
    ...customAttributes,
    created_by: 'the creator of a user is not stored',
  },
} satisfies RouteParameters

export const ownEmails = wholeList

export const newUser = {
  stored: settingNames(userSettings).filter((name) => name !== 'private_profile'),
  noEffect: {
    skip_confirmation: 'addresses are confirmed at once',
    skip_reconfirmation: 'addresses are confirmed at once',
  },
  refused: {
    auditor: 'there are no auditors',
    extern_uid: noIdentities,
    provider: noIdentities,
    group_id_for_saml: noIdentities,
  },
} satisfies RouteParameters

export const changedUser = {
  ...newUser,
  refused: {
    ...newUser.refused,
    force_random_password: 'only a new user can be without a password',
    reset_password: 'no mail is sent for it',
  },
} satisfies RouteParameters
