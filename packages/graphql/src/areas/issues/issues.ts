import {
  descriptionsOfEachIssue,
  discussionCountOfEachIssue,
  findEachIssue,
  type Issue,
  type IssuePermissions,
  listLabelsOfEachIssue,
  notFound,
  permissionsOfEachIssue,
  subscriptionsToIssues,
} from '@penstock/core'
import { html } from '@penstock/http'
import { tasksOf } from '../../request/descriptions.ts'
import { loadBatched } from '../../request/request-context.ts'
import { descriptionField, descriptionHtmlField } from '../../schema/area-fields.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed, listedEmpty } from '../../schema/listed.ts'
import { distinctUsers } from '../users/distinct-users.ts'
import { issuableTypes } from './issuable-types.ts'
import { addIssueLists } from './issue-lists.ts'
import { addIssueMutations } from './issue-mutations.ts'
import { issueEnums } from './issue-types.ts'
import { trackingFields } from './tracking-fields.ts'

export function addIssues(kit: Kit): void {
  const { builder, connections, globalIds, web } = kit
  connections.count('Issue', 'exact')
  const { severity, state, type } = issueEnums(kit)
  const { taskCompletionStatus } = issuableTypes(kit)

  builder.objectType('IssuePermissions', {
    fields: (t) => {
      const allowed = (isAllowed: (permissions: IssuePermissions) => boolean) =>
        t.boolean({ nullable: false, resolve: isAllowed })
      const { alwaysFalse } = constantFields(t)
      return {
        readIssue: allowed(() => true),
        adminIssue: allowed(({ administers }) => administers),
        updateIssue: allowed(({ updates }) => updates),
        reopenIssue: allowed(({ updates }) => updates),
        moveIssue: allowed(({ administers }) => administers),
        createNote: allowed(({ comments }) => comments),
        // This service cannot copy or relate issues yet.
        cloneIssue: alwaysFalse(),
        adminIssueRelation: alwaysFalse(),
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
      titleHtml: t.string({ resolve: ({ title }) => html`${title}`.text }),
      description: descriptionField(t, descriptionsOfEachIssue),
      descriptionHtml: descriptionHtmlField(t, descriptionsOfEachIssue),
      ...trackingFields(t, subscriptionsToIssues),
      moved: t.boolean({ resolve: ({ movedToId }) => movedToId !== undefined }),
      movedTo: t.field({
        type: 'Issue',
        resolve: ({ movedToId }, _args, context) =>
          movedToId === undefined ? null : loadBatched(context, findEachIssue, movedToId),
      }),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      type: t.field({ type, resolve: (source) => source.type }),
      severity: t.field({ type: severity, resolve: (source) => source.severity }),
      reference: t.string({
        nullable: false,
        args: { full: t.arg.boolean({ defaultValue: false }) },
        resolve: ({ iid, projectPath }, { full }) => `${full === true ? projectPath : ''}#${iid}`,
      }),
      webUrl: t.string({ nullable: false, resolve: (source) => web.url(pathOf(source)) }),
      webPath: t.string({ nullable: false, resolve: (source) => web.path(pathOf(source)) }),
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
      upvotes: t.exposeInt('upvotes', { nullable: false }),
      downvotes: t.exposeInt('downvotes', { nullable: false }),
      userNotesCount: t.exposeInt('userNotesCount', { nullable: false }),
      userDiscussionsCount: t.int({
        nullable: false,
        resolve: (source, _args, context) => loadBatched(context, discussionCountOfEachIssue, source),
      }),
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
        resolve: (source, _args, context) => loadBatched(context, permissionsOfEachIssue, source),
      }),
      assignees: connectionField(kit, t, 'UserCore', { list: async ({ assignees }) => listed(assignees) }),
      participants: connectionField(kit, t, 'UserCore', {
        list: async ({ author, assignees }) => listed(distinctUsers(author, ...assignees)),
      }),
      labels: connectionField(kit, t, 'Label', {
        list: (source, _args, context) => loadBatched(context, listLabelsOfEachIssue, source),
      }),
    }),
  })

  addConstantFields(kit)
  addIssueLists(kit)
  addIssueMutations(kit)

  builder.queryField('issue', (t) =>
    t.field({
      type: 'Issue',
      args: { id: t.arg({ type: 'IssueID', required: true }) },
      resolve: (_root, { id }, context) => loadBatched(context, findEachIssue, id),
    }),
  )
}

const pathOf = ({ projectPath, iid }: Issue): string => `${projectPath}/-/issues/${iid}`

/** Adds the fields with constant values, for features that this service does not have. */
function addConstantFields(kit: Kit): void {
  const { builder } = kit
  builder.objectFields('Issue', (t) => {
    const { nullText, alwaysFalse, alwaysZero, always } = constantFields(t)
    return {
      hidden: always(false),
      closedAsDuplicateOf: t.field({ type: 'Issue', resolve: () => null }),
      relativePosition: t.int({ resolve: () => null }),
      mergeRequestsCount: alwaysZero(),
      // This service sends no email.
      emailsEnabled: alwaysFalse(),
      emailsDisabled: t.boolean({
        nullable: false,
        deprecationReason: 'Inverse kept for old clients: emailsEnabled.',
        resolve: () => true,
      }),
      createNoteEmail: nullText(),
      updatedBy: t.field({ type: 'UserCore', resolve: () => null }),
      relatedMergeRequests: connectionField(kit, t, 'MergeRequest', {
        list: async () => listedEmpty(),
      }),
    }
  })
}
