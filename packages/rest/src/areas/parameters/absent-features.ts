import type { Reasons } from '../../routing/route.ts'

/**
 * Parameters that ask for additional data in responses. The data belong to features that do not exist, so there is
 * nothing to add.
 */
export const attributesAndStatistics: Reasons = {
  with_custom_attributes: 'there are no custom attributes to add',
  statistics: 'the statistics are not part of the answer',
}

export const customAttributes: Reasons = { custom_attributes: 'there are no custom attributes' }

/** Parameters for delayed removal. Here, everything is removed at once. */
export const immediateDeletion: Reasons = {
  full_path: 'confirms the deletion of what is already marked for it; a deletion is immediate',
  permanently_remove: 'a deletion is immediate and permanent',
}

export const noStorages: Reasons = { repository_storage: 'there is one storage' }
export const noCustomRoles: Reasons = { member_role_id: 'there are no custom roles' }
