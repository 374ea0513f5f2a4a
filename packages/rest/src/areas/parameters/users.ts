import type { RouteParameters } from '../../routing/route.ts'
import { customAttributes } from './common.ts'
import { cursorList } from './lists.ts'

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
    skip_ldap: 'there are no users of LDAP',
    status: 'not a parameter of this list in GitLab',
  },
  refused: {
    ...customAttributes,
    auditors: 'there are no auditors',
    extern_uid: noIdentities,
    provider: noIdentities,
    saml_provider_id: noIdentities,
  },
} satisfies RouteParameters

export const changedUser = {
  noEffect: {
    skip_confirmation: 'addresses are confirmed at once',
    skip_reconfirmation: 'addresses are confirmed at once',
  },
  refused: { auditor: 'there are no auditors', group_id_for_saml: noIdentities },
} satisfies RouteParameters
