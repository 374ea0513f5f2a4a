import {
  descriptionsOfEachMergeRequest,
  findEachMergeRequest,
  findEachProject,
  listLabelsOfEachMergeRequest,
  type MergeRequest,
  type MergeRequestPermissions,
  mergeBlocker,
  permissionsOfEachMergeRequest,
  targetBranchesOfMergeRequests,
} from '@penstock/core'
import { html } from '@penstock/http'
import { connectionField } from './connection-field.ts'
import { constantFields } from './constant-fields.ts'
import { descriptionHtmlOf, descriptionOf, tasksOf } from './descriptions.ts'
import { issuableTypes } from './issuable-types.ts'
import type { Kit } from './kit.ts'
import { addMergeRequestChanges } from './merge-request-changes.ts'
import { addMergeRequestLists } from './merge-request-lists.ts'
import { addMergeRequestMutations } from './merge-request-mutations.ts'
import { addPeopleOfMergeRequests } from './merge-request-people.ts'
import { addMergeRequestPipelines } from './merge-request-pipelines.ts'
import { mergeRequestEnums } from './merge-request-types.ts'
import { ask, type RequestContext } from './request-context.ts'
import { encodedPath } from './web-address.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    MergeRequestPermissions: MergeRequestPermissions & Pick<MergeRequest, 'sha'>
  }
}

/** @see spec/graphql-contract.md 5.7 */
export function addMergeRequests(kit: Kit): void {
  const { builder, globalIds, web } = kit
  const { state, mergeStatus, detailedMergeStatus } = mergeRequestEnums(kit)
  const { taskCompletionStatus } = issuableTypes(kit)

  builder.objectType('MergeRequestPermissions', {
    fields: (t) => {
      const allowed = (isAllowed: (permissions: MergeRequestPermissions & Pick<MergeRequest, 'sha'>) => boolean) =>
        t.boolean({ nullable: false, resolve: isAllowed })
      const { never } = constantFields(t)
      return {
        readMergeRequest: allowed(() => true),
        adminMergeRequest: allowed(({ administers }) => administers),
        updateMergeRequest: allowed(({ updates }) => updates),
        // Nobody can comment, approve or merge here yet.
        createNote: never(),
        canMerge: never(),
        canApprove: never(),
        pushToSourceBranch: allowed(({ pushes, sha }) => pushes && sha !== undefined),
        removeSourceBranch: allowed(({ pushes, sha }) => pushes && sha !== undefined),
        cherryPickOnCurrentMergeRequest: never(),
        revertOnCurrentMergeRequest: never(),
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
      description: t.string({
        resolve: async (source, _args, context, info) =>
          (await descriptionOf(descriptionsOfEachMergeRequest, source, context, info))?.description,
      }),
      descriptionHtml: t.string({
        resolve: (source, _args, context, info) =>
          descriptionHtmlOf(descriptionsOfEachMergeRequest, source, context, info),
      }),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      draft: t.exposeBoolean('isDraft', { nullable: false }),
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
      sourceBranchExists: t.boolean({ nullable: false, resolve: ({ sha }) => sha !== undefined }),
      targetBranch: t.exposeString('targetBranch', { nullable: false }),
      squash: t.exposeBoolean('isSquashed', { nullable: false }),
      squashOnMerge: t.exposeBoolean('isSquashed', { nullable: false }),
      forceRemoveSourceBranch: t.exposeBoolean('removesSourceBranch'),
      discussionLocked: t.boolean({
        nullable: false,
        resolve: ({ isDiscussionLocked }) => isDiscussionLocked === true,
      }),
      mergeUser: t.field({ type: 'UserCore', resolve: ({ mergedBy }) => mergedBy }),
      milestone: t.field({ type: 'Milestone', resolve: ({ milestone }) => milestone }),
      taskCompletionStatus: t.field({
        type: taskCompletionStatus,
        nullable: false,
        resolve: (source, _args, context, info) => tasksOf(descriptionsOfEachMergeRequest, source, context, info),
      }),
      mergeStatus: t.string({
        deprecationReason: 'Use mergeStatusEnum.',
        resolve: () => 'unchecked',
      }),
      mergeStatusEnum: t.field({ type: mergeStatus, resolve: () => 'unchecked' as const }),
      detailedMergeStatus: t.field({ type: detailedMergeStatus, resolve: mergeBlocker }),
      userPermissions: t.field({
        type: 'MergeRequestPermissions',
        nullable: false,
        resolve: async (source, _args, context) => {
          const permissions = await ask(context, permissionsOfEachMergeRequest, source)
          return { administers: false, updates: false, pushes: false, ...permissions, sha: source.sha }
        },
      }),
      labels: connectionField(kit, t, 'Label', {
        list: (source, _args, context) => ask(context, listLabelsOfEachMergeRequest, source),
      }),
    }),
  })

  addPlaces(kit)
  addUnknown(kit)
  addMergeRequestChanges(kit)
  addPeopleOfMergeRequests(kit)
  addMergeRequestPipelines(kit)
  addMergeRequestLists(kit)
  addMergeRequestMutations(kit)

  builder.queryField('mergeRequest', (t) =>
    t.field({
      type: 'MergeRequest',
      args: { id: t.arg({ type: 'MergeRequestID', required: true }) },
      resolve: (_root, { id }, context) => ask(context, findEachMergeRequest, id),
    }),
  )
}

const pathOf = ({ projectPath, iid }: MergeRequest): string => `${projectPath}/-/merge_requests/${iid}`

/** There are no forks: a branch goes into one of its own project. */
function addPlaces({ builder, web }: Kit): void {
  const projectOf = ({ projectId }: MergeRequest, _args: object, context: RequestContext) =>
    ask(context, findEachProject, projectId)
  // Whoever sees a merge request sees its project.
  const certainProjectOf = async (...asked: Parameters<typeof projectOf>) => (await projectOf(...asked))!
  builder.objectFields('MergeRequest', (t) => ({
    projectId: t.exposeInt('projectId', { nullable: false }),
    sourceProjectId: t.exposeInt('projectId'),
    targetProjectId: t.exposeInt('projectId', { nullable: false }),
    project: t.field({ type: 'Project', nullable: false, resolve: certainProjectOf }),
    sourceProject: t.field({ type: 'Project', resolve: projectOf }),
    targetProject: t.field({ type: 'Project', nullable: false, resolve: certainProjectOf }),
    targetBranchExists: t.boolean({
      nullable: false,
      resolve: (source, _args, context) => ask(context, targetBranchesOfMergeRequests, source),
    }),
    targetBranchPath: t.string({
      resolve: async (source, _args, context) => {
        const isThere = await ask(context, targetBranchesOfMergeRequests, source)
        return isThere ? web.path(`${source.projectPath}/-/tree/${encodedPath(source.targetBranch)}`) : null
      },
    }),
  }))
}

/** Of what nobody can do here yet, and what nobody keeps. */
function addUnknown({ builder }: Kit): void {
  builder.objectFields('MergeRequest', (t) => {
    const { noText, noTime, never, none, is } = constantFields(t)
    return {
      mergeAfter: noTime(),
      mergeCommitSha: noText(),
      inProgressMergeCommitSha: noText(),
      rebaseCommitSha: noText(),
      rebaseInProgress: never(),
      shouldBeRebased: never(),
      mergeable: never(),
      mergeError: noText(),
      mergeOngoing: never(),
      conflicts: never(),
      autoMergeEnabled: never(),
      autoMergeStrategy: noText(),
      availableAutoMergeStrategies: t.stringList({ resolve: () => [] }),
      mergeWhenPipelineSucceeds: is(false),
      squashReadOnly: never(),
      shouldRemoveSourceBranch: t.boolean({ resolve: () => null }),
      defaultMergeCommitMessage: noText(),
      defaultSquashCommitMessage: noText(),
      allowCollaboration: is(false),
      sourceBranchProtected: never(),
      subscribed: never(),
      upvotes: none(),
      downvotes: none(),
      userNotesCount: t.int({ resolve: () => 0 }),
      userDiscussionsCount: t.int({ resolve: () => 0 }),
      timeEstimate: none(),
      totalTimeSpent: none(),
      humanTimeEstimate: noText(),
      humanTotalTimeSpent: noText(),
      approved: never(),
    }
  })
}
