import {
  approvalsLeft,
  checkedMergeRequests,
  descriptionsOfEachMergeRequest,
  detailedMergeStatus,
  discussionCountOfEachMergeRequest,
  findEachMergeRequest,
  findEachProject,
  hasConflicts,
  headPipelineOfEachMergeRequest,
  isApproved,
  isComplete,
  listLabelsOfEachMergeRequest,
  type MergeRequest,
  type MergeRequestPermissions,
  mergeStatus,
  needsRebase,
  permissionsOfEachMergeRequest,
  subscriptionsToMergeRequests,
  targetBranchesOfMergeRequests,
} from '@penstock/core'
import { html } from '@penstock/http'
import { tasksOf } from '../../request/descriptions.ts'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { descriptionField, descriptionHtmlField } from '../../schema/area-fields.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import type { Kit } from '../../schema/kit.ts'
import { encodedPath } from '../../schema/web-address.ts'
import { issuableTypes } from '../issues/issuable-types.ts'
import { trackingFields } from '../issues/tracking-fields.ts'
import { addMergeRequestChanges } from './merge-request-changes.ts'
import { addMergeRequestLists } from './merge-request-lists.ts'
import { addMergeRequestMutations } from './merge-request-mutations.ts'
import { addPeopleOfMergeRequests } from './merge-request-people.ts'
import { addMergeRequestPipelines } from './merge-request-pipelines.ts'
import { mergeRequestEnums } from './merge-request-types.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    MergeRequestPermissions: MergeRequestPermissions & Pick<MergeRequest, 'sourceBranchExists'>
  }
}

export function addMergeRequests(kit: Kit): void {
  const { builder, connections, globalIds, web } = kit
  connections.count('MergeRequest', 'exact')
  const { state, ...types } = mergeRequestEnums(kit)
  const { taskCompletionStatus } = issuableTypes(kit)

  builder.objectType('MergeRequestPermissions', {
    fields: (t) => {
      const allowed = (
        isAllowed: (permissions: MergeRequestPermissions & Pick<MergeRequest, 'sourceBranchExists'>) => boolean,
      ) => t.boolean({ nullable: false, resolve: isAllowed })
      const { alwaysFalse } = constantFields(t)
      return {
        readMergeRequest: allowed(() => true),
        adminMergeRequest: allowed(({ administers }) => administers),
        updateMergeRequest: allowed(({ updates }) => updates),
        createNote: allowed(({ comments }) => comments),
        canMerge: allowed(({ merges }) => merges),
        canApprove: allowed(({ approves }) => approves),
        pushToSourceBranch: allowed(({ pushes, sourceBranchExists }) => pushes && sourceBranchExists),
        removeSourceBranch: allowed(({ pushes, sourceBranchExists }) => pushes && sourceBranchExists),
        cherryPickOnCurrentMergeRequest: alwaysFalse(),
        revertOnCurrentMergeRequest: alwaysFalse(),
      }
    },
  })

  builder.objectType('MergeRequest', {
    interfaces: ['Todoable'],
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('MergeRequest', id) }),
      iid: t.string({ nullable: false, resolve: ({ iid }) => String(iid) }),
      name: t.string({ resolve: ({ title }) => title }),
      title: t.exposeString('title', { nullable: false }),
      titleHtml: t.string({ resolve: ({ title }) => html`${title}`.text }),
      description: descriptionField(t, descriptionsOfEachMergeRequest),
      descriptionHtml: descriptionHtmlField(t, descriptionsOfEachMergeRequest),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      draft: t.exposeBoolean('isDraft', { nullable: false }),
      ...trackingFields(t, subscriptionsToMergeRequests),
      reference: t.string({
        nullable: false,
        args: { full: t.arg.boolean({ defaultValue: false }) },
        resolve: ({ iid, projectPath }, { full }) => `${full === true ? projectPath : ''}!${iid}`,
      }),
      webUrl: t.string({ resolve: (source) => web.url(pathOf(source)) }),
      webPath: t.string({ nullable: false, resolve: (source) => web.path(pathOf(source)) }),
      createdAt: t.field({ type: 'Time', nullable: false, resolve: ({ createdAtMs }) => createdAtMs }),
      updatedAt: t.field({ type: 'Time', nullable: false, resolve: ({ updatedAtMs }) => updatedAtMs }),
      mergedAt: t.field({ type: 'Time', resolve: ({ mergedAtMs }) => mergedAtMs }),
      closedAt: t.field({ type: 'Time', resolve: ({ closedAtMs }) => closedAtMs }),
      preparedAt: t.field({ type: 'Time', resolve: ({ createdAtMs }) => createdAtMs }),
      sourceBranch: t.exposeString('sourceBranch', { nullable: false }),
      sourceBranchExists: t.exposeBoolean('sourceBranchExists', { nullable: false }),
      targetBranch: t.exposeString('targetBranch', { nullable: false }),
      squash: t.exposeBoolean('isSquashed', { nullable: false }),
      squashOnMerge: t.exposeBoolean('isSquashed', { nullable: false }),
      forceRemoveSourceBranch: t.exposeBoolean('removesSourceBranch'),
      discussionLocked: t.boolean({
        nullable: false,
        resolve: ({ isDiscussionLocked }) => isDiscussionLocked === true,
      }),
      upvotes: t.exposeInt('upvotes', { nullable: false }),
      downvotes: t.exposeInt('downvotes', { nullable: false }),
      userNotesCount: t.exposeInt('userNotesCount'),
      userDiscussionsCount: t.int({
        resolve: (source, _args, context) => loadBatched(context, discussionCountOfEachMergeRequest, source),
      }),
      mergeCommitSha: t.exposeString('mergeCommitSha'),
      mergeUser: t.field({ type: 'UserCore', resolve: ({ mergedBy, autoMergeUser }) => mergedBy ?? autoMergeUser }),
      milestone: t.field({ type: 'Milestone', resolve: ({ milestone }) => milestone }),
      taskCompletionStatus: t.field({
        type: taskCompletionStatus,
        nullable: false,
        resolve: (source, _args, context, info) => tasksOf(descriptionsOfEachMergeRequest, source, context, info),
      }),
      mergeStatus: t.string({
        deprecationReason: 'Use mergeStatusEnum.',
        resolve: async (source, _args, context) => mergeStatus(await checked(source, context)),
      }),
      mergeStatusEnum: t.field({
        type: types.mergeStatus,
        resolve: async (source, _args, context) => mergeStatus(await checked(source, context)),
      }),
      detailedMergeStatus: t.field({
        type: types.detailedMergeStatus,
        resolve: async (source, _args, context) => detailedMergeStatus(await checked(source, context)),
      }),
      mergeable: t.boolean({
        nullable: false,
        resolve: async (source, _args, context) => detailedMergeStatus(await checked(source, context)) === 'mergeable',
      }),
      shouldBeRebased: t.boolean({
        nullable: false,
        resolve: async (source, _args, context) => needsRebase(await checked(source, context)),
      }),
      conflicts: t.boolean({
        nullable: false,
        resolve: async (source, _args, context) => hasConflicts(await checked(source, context)),
      }),
      userPermissions: t.field({
        type: 'MergeRequestPermissions',
        nullable: false,
        resolve: async (source, _args, context) => {
          const permissions = await loadBatched(context, permissionsOfEachMergeRequest, source)
          return {
            administers: false,
            updates: false,
            pushes: false,
            merges: false,
            comments: false,
            approves: false,
            ...permissions,
            sourceBranchExists: source.sourceBranchExists,
          }
        },
      }),
      approved: t.boolean({
        nullable: false,
        description: 'Whether it has all required approvals, and at least one',
        resolve: isApproved,
      }),
      approvalsRequired: t.exposeInt('approvalsRequired'),
      approvalsLeft: t.int({ resolve: approvalsLeft }),
      autoMergeEnabled: t.boolean({ nullable: false, resolve: isMergedAutomatically }),
      autoMergeStrategy: t.string({
        resolve: (source) => (isMergedAutomatically(source) ? AUTO_MERGE_STRATEGY : undefined),
      }),
      availableAutoMergeStrategies: t.stringList({
        resolve: async (source, _args, context) => {
          const pipeline = await loadBatched(context, headPipelineOfEachMergeRequest, source)
          return source.state === 'opened' && pipeline && !isComplete(pipeline.status) ? [AUTO_MERGE_STRATEGY] : []
        },
      }),
      mergeWhenPipelineSucceeds: t.boolean({ resolve: isMergedAutomatically }),
      labels: connectionField(kit, t, 'Label', {
        list: (source, _args, context) => loadBatched(context, listLabelsOfEachMergeRequest, source),
      }),
    }),
  })

  addProjectFields(kit)
  addConstantFields(kit)
  addMergeRequestChanges(kit)
  addPeopleOfMergeRequests(kit)
  addMergeRequestPipelines(kit)
  addMergeRequestLists(kit)
  addMergeRequestMutations(kit)

  builder.queryField('mergeRequest', (t) =>
    t.field({
      type: 'MergeRequest',
      args: { id: t.arg({ type: 'MergeRequestID', required: true }) },
      resolve: (_root, { id }, context) => loadBatched(context, findEachMergeRequest, id),
    }),
  )
}

const checked = (source: MergeRequest, context: RequestContext) => loadBatched(context, checkedMergeRequests, source)

const AUTO_MERGE_STRATEGY = 'merge_when_checks_pass'
const isMergedAutomatically = ({ autoMergeUser }: MergeRequest): boolean => autoMergeUser !== undefined

const pathOf = ({ projectPath, iid }: MergeRequest): string => `${projectPath}/-/merge_requests/${iid}`

/** Adds the project and branch fields. There are no forks, so source and target are in the same project. */
function addProjectFields({ builder, web }: Kit): void {
  const projectOf = ({ projectId }: MergeRequest, _args: object, context: RequestContext) =>
    loadBatched(context, findEachProject, projectId)
  // A caller who sees a merge request also sees its project.
  const requiredProjectOf = async (...args: Parameters<typeof projectOf>) => (await projectOf(...args))!
  builder.objectFields('MergeRequest', (t) => ({
    projectId: t.exposeInt('projectId', { nullable: false }),
    sourceProjectId: t.exposeInt('projectId'),
    targetProjectId: t.exposeInt('projectId', { nullable: false }),
    project: t.field({ type: 'Project', nullable: false, resolve: requiredProjectOf }),
    sourceProject: t.field({ type: 'Project', resolve: projectOf }),
    targetProject: t.field({ type: 'Project', nullable: false, resolve: requiredProjectOf }),
    targetBranchExists: t.boolean({
      nullable: false,
      resolve: (source, _args, context) => loadBatched(context, targetBranchesOfMergeRequests, source),
    }),
    targetBranchPath: t.string({
      resolve: async (source, _args, context) => {
        const exists = await loadBatched(context, targetBranchesOfMergeRequests, source)
        return exists ? web.path(`${source.projectPath}/-/tree/${encodedPath(source.targetBranch)}`) : null
      },
    }),
  }))
}

/** Adds the fields with constant values, for features that this service does not have. */
function addConstantFields({ builder }: Kit): void {
  builder.objectFields('MergeRequest', (t) => {
    const { nullText, nullTime, alwaysFalse, always } = constantFields(t)
    return {
      mergeAfter: nullTime(),
      inProgressMergeCommitSha: nullText(),
      rebaseCommitSha: nullText(),
      rebaseInProgress: alwaysFalse(),
      mergeError: nullText(),
      mergeOngoing: alwaysFalse(),
      squashReadOnly: alwaysFalse(),
      shouldRemoveSourceBranch: t.boolean({ resolve: () => null }),
      defaultMergeCommitMessage: nullText(),
      defaultSquashCommitMessage: nullText(),
      allowCollaboration: always(false),
      sourceBranchProtected: alwaysFalse(),
    }
  })
}
