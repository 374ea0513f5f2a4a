import {
  descriptionsOfEachMergeRequest,
  diffStatsOfRanges,
  findEachMergeRequest,
  findEachProject,
  listLabelsOfEachMergeRequest,
  type MergeRequest,
  type MergeRequestPermissions,
  type MergeRequestRange,
  mergeHindranceOf,
  permissionsOfEachMergeRequest,
  rangesOfMergeRequests,
  targetBranchesOfMergeRequests,
} from '@penstock/core'
import { html } from '@penstock/http'
import { descriptionOf, tasksOf } from './descriptions.ts'
import { issuableTypes } from './issuable-types.ts'
import { connectionField, type Kit, listOf } from './kit.ts'
import { listed } from './listed.ts'
import { addMergeRequestLists } from './merge-request-lists.ts'
import { addMergeRequestMutations } from './merge-request-mutations.ts'
import { addPeopleOfMergeRequests } from './merge-request-people.ts'
import { addMergeRequestPipelines } from './merge-request-pipelines.ts'
import { mergeRequestEnums } from './merge-request-types.ts'
import { ask, type RequestContext } from './request-context.ts'
import type { CommitOfProject } from './sources.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    DiffRefs: MergeRequestRange
    DiffStats: { readonly path: string; readonly additions: number; readonly deletions: number }
    MergeRequestPermissions: MergeRequestPermissions & Pick<MergeRequest, 'sha'>
  }
}

/** @see spec/graphql-contract.md 5.7 */
export function addMergeRequests(kit: Kit): void {
  const { builder, globalIds, settings } = kit
  const { state, mergeStatus, detailedMergeStatus } = mergeRequestEnums(kit)
  const { taskCompletionStatus } = issuableTypes(kit)

  builder.objectType('DiffRefs', {
    fields: (t) => ({
      baseSha: t.exposeString('baseSha'),
      headSha: t.exposeString('headSha', { nullable: false }),
      startSha: t.exposeString('startSha', { nullable: false }),
    }),
  })
  builder.objectType('DiffStats', {
    fields: (t) => ({
      path: t.exposeString('path', { nullable: false }),
      additions: t.exposeInt('additions', { nullable: false }),
      deletions: t.exposeInt('deletions', { nullable: false }),
    }),
  })
  builder.objectType('MergeRequestPermissions', {
    fields: (t) => {
      const allowed = (isAllowed: (permissions: MergeRequestPermissions & Pick<MergeRequest, 'sha'>) => boolean) =>
        t.boolean({ nullable: false, resolve: isAllowed })
      // Nobody can comment, approve or merge here yet.
      const never = () => allowed(() => false)
      return {
        readMergeRequest: allowed(() => true),
        adminMergeRequest: allowed(({ administers }) => administers),
        updateMergeRequest: allowed(({ updates }) => updates),
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
        resolve: async (source, _args, context, info) => {
          const described = await descriptionOf(descriptionsOfEachMergeRequest, source, context, info)
          return described && html`${described.description ?? ''}`.text
        },
      }),
      state: t.field({ type: state, nullable: false, resolve: (source) => source.state }),
      draft: t.exposeBoolean('isDraft', { nullable: false }),
      reference: t.string({
        nullable: false,
        args: { full: t.arg.boolean({ defaultValue: false }) },
        resolve: ({ iid, projectPath }, { full }) => `${full === true ? projectPath : ''}!${iid}`,
      }),
      webUrl: t.string({ resolve: (source) => `${settings.externalUrl}${pathOf(source)}` }),
      webPath: t.string({ nullable: false, resolve: pathOf }),
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
      detailedMergeStatus: t.field({ type: detailedMergeStatus, resolve: mergeHindranceOf }),
      userPermissions: t.field({
        type: 'MergeRequestPermissions',
        nullable: false,
        resolve: async (source, _args, context) => {
          const permissions = await ask(context, permissionsOfEachMergeRequest, source)
          return { administers: false, updates: false, pushes: false, ...permissions, sha: source.sha }
        },
      }),
      labels: connectionField(kit, t, 'Label', {
        list: (source, _args, context) => listOf(listLabelsOfEachMergeRequest)(source, {}, context),
      }),
    }),
  })

  addPlaces(kit)
  addUnknown(kit)
  addChanges(kit)
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

const pathOf = ({ projectPath, iid }: MergeRequest): string => `/${projectPath}/-/merge_requests/${iid}`

/** There are no forks: a branch goes into one of its own project. */
function addPlaces({ builder }: Kit): void {
  const projectOf = ({ projectId }: MergeRequest, _args: object, context: RequestContext) =>
    ask(context, findEachProject, projectId)
  builder.objectFields('MergeRequest', (t) => ({
    projectId: t.exposeInt('projectId', { nullable: false }),
    sourceProjectId: t.exposeInt('projectId'),
    targetProjectId: t.exposeInt('projectId', { nullable: false }),
    project: t.field({ type: 'Project', nullable: false, resolve: projectOf as never }),
    sourceProject: t.field({ type: 'Project', resolve: projectOf }),
    targetProject: t.field({ type: 'Project', nullable: false, resolve: projectOf as never }),
    targetBranchExists: t.boolean({
      nullable: false,
      resolve: async (source, _args, context) => (await ask(context, targetBranchesOfMergeRequests, source)) === true,
    }),
    targetBranchPath: t.string({
      resolve: async (source, _args, context) => {
        const isThere = await ask(context, targetBranchesOfMergeRequests, source)
        return isThere ? `/${source.projectPath}/-/tree/${encodedPath(source.targetBranch)}` : null
      },
    }),
  }))
}

const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Of what nobody can do here yet, and what nobody keeps. */
function addUnknown({ builder }: Kit): void {
  builder.objectFields('MergeRequest', (t) => {
    const nothing = () => t.string({ resolve: () => null })
    const no = () => t.boolean({ nullable: false, resolve: () => false })
    const none = () => t.int({ nullable: false, resolve: () => 0 })
    return {
      mergeAfter: t.field({ type: 'Time', resolve: () => null }),
      mergeCommitSha: nothing(),
      inProgressMergeCommitSha: nothing(),
      rebaseCommitSha: nothing(),
      rebaseInProgress: no(),
      shouldBeRebased: no(),
      mergeable: no(),
      mergeError: nothing(),
      mergeOngoing: no(),
      conflicts: no(),
      autoMergeEnabled: no(),
      autoMergeStrategy: nothing(),
      availableAutoMergeStrategies: t.stringList({ resolve: () => [] }),
      mergeWhenPipelineSucceeds: t.boolean({ resolve: () => false }),
      squashReadOnly: no(),
      shouldRemoveSourceBranch: t.boolean({ resolve: () => null }),
      defaultMergeCommitMessage: nothing(),
      defaultSquashCommitMessage: nothing(),
      allowCollaboration: t.boolean({ resolve: () => false }),
      sourceBranchProtected: no(),
      subscribed: no(),
      upvotes: none(),
      downvotes: none(),
      userNotesCount: t.int({ resolve: () => 0 }),
      userDiscussionsCount: t.int({ resolve: () => 0 }),
      timeEstimate: none(),
      totalTimeSpent: none(),
      humanTimeEstimate: nothing(),
      humanTotalTimeSpent: nothing(),
      approved: no(),
    }
  })
}

/** What its branches tell; null where one of them is missing, or where there is too much to read. */
function addChanges(kit: Kit): void {
  const { builder } = kit
  const rangeOf = (source: MergeRequest, context: RequestContext) => ask(context, rangesOfMergeRequests, source)
  const statsOf = async (source: MergeRequest, context: RequestContext) => {
    const range = await rangeOf(source, context)
    return range && ask(context, diffStatsOfRanges, range)
  }
  const commitsOf = async (source: MergeRequest, context: RequestContext): Promise<CommitOfProject[] | undefined> => {
    const range = await rangeOf(source, context)
    return range?.commits.map((commit) => ({ ...commit, inProject: range.project }))
  }

  builder.objectFields('MergeRequest', (t) => ({
    diffHeadSha: t.exposeString('sha'),
    diffRefs: t.field({ type: 'DiffRefs', resolve: (source, _args, context) => rangeOf(source, context) }),
    divergedFromTargetBranch: t.boolean({
      nullable: false,
      resolve: async (source, _args, context) => {
        const range = await rangeOf(source, context)
        return range !== undefined && range.baseSha !== range.startSha
      },
    }),
    diffStatsSummary: t.field({
      type: 'DiffStatsSummary',
      resolve: async (source, _args, context) => {
        const stats = await statsOf(source, context)
        const total = (what: 'additions' | 'deletions') => stats!.reduce((sum, file) => sum + file[what], 0)
        return stats && { additions: total('additions'), deletions: total('deletions'), fileCount: stats.length }
      },
    }),
    diffStats: t.field({
      type: ['DiffStats'],
      args: { path: t.arg.string() },
      resolve: async (source, { path }, context) => {
        const stats = await statsOf(source, context)
        return stats?.filter((file) => path == null || file.path === path)
      },
    }),
    commitCount: t.int({
      resolve: async (source, _args, context) => (await rangeOf(source, context))?.commits.length,
    }),
    commits: connectionField(kit, t, 'Commit', {
      list: async (source, _args, context) => {
        const commits = await commitsOf(source, context)
        return commits && listed(commits)
      },
    }),
    commitsWithoutMergeCommits: connectionField(kit, t, 'Commit', {
      list: async (source, _args, context) => {
        const commits = await commitsOf(source, context)
        const plain = commits?.filter(({ parentShas }) => parentShas.length < 2)
        return plain && listed(plain)
      },
    }),
  }))
}
