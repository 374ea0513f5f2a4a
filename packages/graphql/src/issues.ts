import {
  descriptionsOfEachIssue,
  emptyListing,
  findEachIssue,
  type Issue,
  type IssuePermissions,
  type Listed,
  listingOfArrays,
  listLabelsOfEachIssue,
  type MergeRequest,
  notFound,
  permissionsOfEachIssue,
  type User,
} from '@penstock/core'
import { descriptionOf, tasksOf } from './descriptions.ts'
import { issuableTypes } from './issuable-types.ts'
import { addIssueLists } from './issue-lists.ts'
import { addIssueMutations } from './issue-mutations.ts'
import { issueEnums } from './issue-types.ts'
import { connectionField, type Kit, listOf } from './kit.ts'
import { ask } from './request-context.ts'

/** @see spec/graphql-contract.md 5.8 */
export function addIssues(kit: Kit): void {
  const { builder, globalIds, settings } = kit
  const { state, type } = issueEnums(kit)
  const { taskCompletionStatus } = issuableTypes(kit)

  builder.objectType('IssuePermissions', {
    fields: (t) => {
      const allowed = (isAllowed: (permissions: IssuePermissions) => boolean) =>
        t.boolean({ nullable: false, resolve: isAllowed })
      // Nobody can comment, move, copy or relate issues here yet.
      const never = () => allowed(() => false)
      return {
        readIssue: allowed(() => true),
        adminIssue: allowed(({ administers }) => administers),
        updateIssue: allowed(({ updates }) => updates),
        reopenIssue: allowed(({ updates }) => updates),
        createNote: never(),
        moveIssue: never(),
        cloneIssue: never(),
        adminIssueRelation: never(),
      }
    },
  })

  builder.objectType('Issue', {
    interfaces: ['Todoable'],
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Issue', id) }),
      iid: t.string({ nullable: false, resolve: ({ iid }) => String(iid) }),
      name: t.string({ resolve: ({ title }) => title }),
      title: t.exposeString('title', { nullable: false }),
      description: t.string({
        resolve: async (source, _args, context, info) =>
          (await descriptionOf(descriptionsOfEachIssue, source, context, info))?.description,
      }),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      type: t.field({ type, resolve: () => 'issue' as const }),
      reference: t.string({
        nullable: false,
        args: { full: t.arg.boolean({ defaultValue: false }) },
        resolve: ({ iid, projectPath }, { full }) => `${full === true ? projectPath : ''}#${iid}`,
      }),
      webUrl: t.string({ nullable: false, resolve: (source) => `${settings.externalUrl}${pathOf(source)}` }),
      webPath: t.string({ nullable: false, resolve: pathOf }),
      createdAt: t.field({ type: 'Time', nullable: false, resolve: ({ createdAtMs }) => createdAtMs }),
      updatedAt: t.field({ type: 'Time', nullable: false, resolve: ({ updatedAtMs }) => updatedAtMs }),
      closedAt: t.field({ type: 'Time', resolve: ({ closedAtMs }) => closedAtMs }),
      dueDate: t.field({ type: 'Time', resolve: ({ dueDate }) => dueDate }),
      confidential: t.exposeBoolean('isConfidential', { nullable: false }),
      discussionLocked: t.boolean({
        nullable: false,
        resolve: ({ isDiscussionLocked }) => isDiscussionLocked === true,
      }),
      projectId: t.exposeInt('projectId'),
      taskCompletionStatus: t.field({
        type: taskCompletionStatus,
        nullable: false,
        resolve: (source, _args, context, info) => tasksOf(descriptionsOfEachIssue, source, context, info),
      }),
      author: t.field({
        type: 'UserCore',
        nullable: false,
        resolve: ({ author }) => {
          if (author === undefined) throw notFound('User')
          return author
        },
      }),
      milestone: t.field({ type: 'Milestone', resolve: ({ milestone }) => milestone }),
      userPermissions: t.field({
        type: 'IssuePermissions',
        nullable: false,
        resolve: async (source, _args, context) =>
          (await ask(context, permissionsOfEachIssue, source)) ?? { administers: false, updates: false },
      }),
      assignees: connectionField(kit, t, 'UserCore', { list: async ({ assignees }) => listed(assignees) }),
      participants: connectionField(kit, t, 'UserCore', { list: async (source) => listed(participantsOf(source)) }),
      labels: connectionField(kit, t, 'Label', {
        list: (source, _args, context) => listOf(listLabelsOfEachIssue)(source, {}, context),
      }),
    }),
  })

  addUnknown(kit)
  addIssueLists(kit)
  addIssueMutations(kit)

  builder.queryField('issue', (t) =>
    t.field({
      type: 'Issue',
      args: { id: t.arg({ type: 'IssueID', required: true }) },
      resolve: (_root, { id }, context) => ask(context, findEachIssue, id),
    }),
  )
}

const pathOf = ({ projectPath, iid }: Issue): string => `/${projectPath}/-/issues/${iid}`

const listed = (users: readonly User[]): Listed<User> => ({ listing: listingOfArrays([users]), index: 0 })

/** Everyone once. */
function participantsOf({ author, assignees }: Issue): User[] {
  const people = [...(author === undefined ? [] : [author]), ...assignees]
  return [...new Map(people.map((user) => [user.id, user])).values()]
}

/** Of what nobody can do here yet, and what nobody keeps. */
function addUnknown(kit: Kit): void {
  const { builder } = kit
  const { severity } = issueEnums(kit)
  builder.objectFields('Issue', (t) => {
    const nothing = () => t.string({ resolve: () => null })
    const no = () => t.boolean({ nullable: false, resolve: () => false })
    const none = () => t.int({ nullable: false, resolve: () => 0 })
    const noIssue = () => t.field({ type: 'Issue', resolve: () => null })
    return {
      titleHtml: nothing(),
      descriptionHtml: nothing(),
      hidden: t.boolean({ resolve: () => false }),
      moved: t.boolean({ resolve: () => false }),
      movedTo: noIssue(),
      closedAsDuplicateOf: noIssue(),
      severity: t.field({ type: severity, resolve: () => 'UNKNOWN' as const }),
      relativePosition: t.int({ resolve: () => null }),
      mergeRequestsCount: none(),
      upvotes: none(),
      downvotes: none(),
      userNotesCount: none(),
      userDiscussionsCount: none(),
      subscribed: no(),
      // Nothing is mailed.
      emailsEnabled: no(),
      emailsDisabled: t.boolean({
        nullable: false,
        deprecationReason: 'Inverse kept for old clients: emailsEnabled.',
        resolve: () => true,
      }),
      timeEstimate: none(),
      totalTimeSpent: none(),
      humanTimeEstimate: nothing(),
      humanTotalTimeSpent: nothing(),
      createNoteEmail: nothing(),
      updatedBy: t.field({ type: 'UserCore', resolve: () => null }),
      relatedMergeRequests: connectionField(kit, t, 'MergeRequest', {
        list: async () => ({ listing: emptyListing<MergeRequest>(1), index: 0 }),
      }),
    }
  })
}
