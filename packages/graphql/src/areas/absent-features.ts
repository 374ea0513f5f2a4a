import { connectionField } from '../schema/connection-field.ts'
import { constantFields } from '../schema/constant-fields.ts'
import { sharedEnums } from '../schema/enums.ts'
import type { Kit } from '../schema/kit.ts'
import { listedEmpty } from '../schema/listed.ts'
import type { AnyFieldsOf, FieldsOf } from '../schema/schema-types.ts'

declare module '../schema/schema-types.ts' {
  interface ObjectSources {
    /** This feature does not exist here, so the type has no objects. */
    CiInputsSpec: { readonly name: string }
  }
}

/**
 * Adds the fields of features that this service does not have. Each has the value that GitLab shows where the feature
 * is not used: if a field were unknown, the whole document of a client would be rejected.
 */
export function addAbsentFeatures(kit: Kit): void {
  const { builder } = kit
  const { accessLevel } = sharedEnums(kit)

  builder.objectType('CiInputsSpec', {
    description: 'Input that a job declares; records of jobs contain none',
    fields: (t) => ({ name: t.exposeString('name', { nullable: false }) }),
  })

  // Groups and projects are deleted at once, not after a period, and groups cannot be archived.
  const deletionFields = <Parent>(t: AnyFieldsOf<Parent>) => {
    const { alwaysFalse, nullTime } = constantFields(t)
    return {
      isSelfDeletionInProgress: alwaysFalse(),
      isSelfDeletionScheduled: alwaysFalse(),
      permanentDeletionDate: nullTime(),
    }
  }
  builder.objectFields('Group', (t) => ({
    ...deletionFields(t),
    // There are no subscriptions.
    isLinkedToSubscription: constantFields(t).always(false),
  }))
  builder.objectFields('Project', (t) => ({
    ...deletionFields(t),
    isSelfArchived: t.boolean({ resolve: ({ isArchived }) => isArchived }),
    // There is no catalog of CI components.
    isCatalogResource: constantFields(t).always(false),
    isPublished: constantFields(t).always(false),
    exploreCatalogPath: constantFields(t).nullText(),
    // Issues and merge requests have any number of assignees and reviewers.
    allowsMultipleMergeRequestAssignees: alwaysTrue(t),
    allowsMultipleMergeRequestReviewers: alwaysTrue(t),
    visibleForks: connectionField(kit, t, 'Project', {
      description: 'Projects cannot be forked',
      args: { minimumAccessLevel: t.arg({ type: accessLevel }) },
      list: async () => listedEmpty(),
    }),
  }))
  builder.objectFields('MergeRequest', (t) => ({
    mergeableDiscussionsState: t.boolean({
      description: 'Always true: open discussions are only checked by the merge',
      resolve: () => true,
    }),
  }))
  builder.objectFields('CiJob', (t) => ({
    inputsSpec: t.field({ type: ['CiInputsSpec'], resolve: () => [] }),
  }))
  builder.objectFields('CiRunner', (t) => ({
    adminUrl: t.string({ description: 'Null: runners have no page here', resolve: () => null }),
  }))
  builder.interfaceFields('User', (t) => ({
    // No service account acts together with a person.
    compositeIdentityEnforced: constantFields(t).alwaysFalse(),
  }))
}

const alwaysTrue = <Parent>(t: FieldsOf<Parent>) => t.boolean({ nullable: false, resolve: () => true })
