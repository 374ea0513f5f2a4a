import {
  areLatestPipelines,
  commitsOfPipelines,
  findEachProject,
  hasWarnings,
  isComplete,
  type Permission,
  type Pipeline,
  type PipelineStatus,
  pipelineStatuses,
  pipelineStatusWording,
  type ShownStanding,
  talliesOfPipelines,
  upstreamsOfPipelines,
  usersOfPipelines,
} from '@penstock/core'
import { html } from '@penstock/http'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import { repositoryRead, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed } from '../../schema/listed.ts'
import type { FieldsOf } from '../../schema/schema-types.ts'
import type { WebAddress } from '../../schema/web-address.ts'
import { standingIn } from '../namespaces/access-levels.ts'
import { ciEnums } from './ci-enums.ts'
import { ciPaths, shortSha } from './ci-paths.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    PipelinePermissions: ShownStanding['allows']
    PipelineMessage: { readonly id: number; readonly content: string }
    PipelineManualVariable: { readonly id: number }
  }
}

export function addPipelines(kit: Kit): void {
  const { builder, connections, globalIds, web } = kit
  connections.count('Pipeline', 'exact')
  const enums = ciEnums(kit)
  const { commitPath, pipelinePath } = ciPaths(web)
  addParts(kit)

  const id = ({ globalNumber }: Pipeline) => globalIds.of('Ci::Pipeline', globalNumber)
  // A record without an iid gets its id instead.
  const iid = ({ iid, id }: Pipeline) => String(iid ?? id)
  const project = ({ projectId }: Pipeline, _: unknown, context: RequestContext) =>
    loadBatched(context, findEachProject, projectId)

  builder.interfaceType('PipelineInterface', {
    resolveType: () => 'Pipeline',
    fields: (t) => ({
      id: t.id({ resolve: id }),
      iid: t.string({ resolve: iid }),
      path: t.string({ resolve: pipelinePath }),
      commit: t.field({
        type: 'Commit',
        ...withCost(repositoryRead),
        resolve: (pipeline, _, context) => loadBatched(context, commitsOfPipelines, pipeline),
      }),
      project: t.field({ type: 'ProjectInterface', resolve: project }),
      user: t.field({
        type: 'UserCore',
        description: 'The user of this service with the username in the record',
        resolve: (pipeline, _, context) => loadBatched(context, usersOfPipelines, pipeline),
      }),
    }),
  })

  const shaFormat = builder.enumType('ShaFormat', { values: ['LONG', 'SHORT'] as const })

  builder.objectType('Pipeline', {
    interfaces: ['PipelineInterface'],
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: id }),
      iid: t.string({ nullable: false, resolve: iid }),
      project: t.field({ type: 'Project', resolve: project }),
      name: t.exposeString('name'),
      status: t.field({
        type: enums.pipelineStatus,
        nullable: false,
        description: 'CREATED if the recorded status is unknown; detailedStatus shows it',
        resolve: ({ status }) => knownStatus(status) ?? 'created',
      }),
      detailedStatus: t.field({
        type: 'DetailedStatus',
        nullable: false,
        resolve: (pipeline) => ({
          wording: pipelineStatusWording(pipeline),
          subjectId: pipeline.globalNumber,
          path: pipelinePath(pipeline),
        }),
      }),
      sha: t.string({
        args: { format: t.arg({ type: shaFormat }) },
        resolve: (pipeline, { format }) => (format === 'SHORT' ? shortSha(pipeline) : pipeline.sha),
      }),
      beforeSha: t.exposeString('beforeSha'),
      source: t.exposeString('source'),
      configSource: t.field({ type: enums.configSource, resolve: () => null }),
      ...refFields(t, web),
      ...stateFields(t),
      ...timeFields(t),
      ...tallyFields(t),
      commitPath: t.string({ resolve: commitPath }),
      coverage: t.float({ resolve: () => null }),
      usesNeeds: t.boolean({ resolve: () => null }),
      yamlErrorMessages: t.string({ resolve: () => null }),
      failureReason: t.string({ resolve: () => null }),
      triggeredByPath: t.string({
        resolve: async (pipeline, _, context) => {
          const upstream = await loadBatched(context, upstreamsOfPipelines, pipeline)
          return upstream && pipelinePath(upstream)
        },
      }),
      mergeRequest: t.field({ type: 'MergeRequest', resolve: () => null }),
      mergeRequestEventType: t.field({ type: enums.mergeRequestEvent, resolve: () => null }),
      userPermissions: t.field({ type: 'PipelinePermissions', nullable: false, resolve: permissionsAt }),
      errorMessages: connectionField(kit, t, 'PipelineMessage', { list: async () => listed([]) }),
      warningMessages: connectionField(kit, t, 'PipelineMessage', { list: async () => listed([]) }),
      manualVariables: connectionField(kit, t, 'PipelineManualVariable', {
        description: 'Always null: not recorded, because values may be secret',
        list: () => null,
      }),
    }),
  })
}

/** Returns the status, or `undefined` if it is not a known one. */
export const knownStatus = (status: string): PipelineStatus | undefined =>
  pipelineStatuses.find((known) => known === status)

export type Allows = ShownStanding['allows']

/** Returns the permissions of the caller in the project of the pipeline. */
export async function permissionsAt({ projectId }: Pipeline, _: unknown, context: RequestContext): Promise<Allows> {
  const project = await loadBatched(context, findEachProject, projectId)
  return project === undefined ? () => false : (await standingIn(project, context)).allows
}

function addParts({ builder, globalIds }: Kit): void {
  builder.objectType('PipelinePermissions', {
    fields: (t) => {
      const may = (permission: Permission) => t.boolean({ nullable: false, resolve: (allows) => allows(permission) })
      return {
        adminPipeline: may('remove_pipeline'),
        updatePipeline: may('create_pipeline_record'),
        cancelPipeline: may('create_pipeline_record'),
        destroyPipeline: may('remove_pipeline'),
      }
    },
  })
  builder.objectType('PipelineMessage', {
    description: 'Configuration error or warning',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.ofType('Ci::PipelineMessage', id) }),
      content: t.exposeString('content', { nullable: false }),
    }),
  })
  builder.objectType('PipelineManualVariable', {
    description: 'Variable given when the pipeline was started by hand',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.ofType('Ci::PipelineVariable', id) }),
      key: t.string({ resolve: () => null }),
      value: t.string({ resolve: () => null }),
    }),
  })
}

const refFields = (t: FieldsOf<Pipeline>, web: WebAddress) => ({
  ref: t.exposeString('ref'),
  refPath: t.string({
    resolve: ({ ref, isTag }) => ref && `refs/${isTag ? 'tags' : 'heads'}/${ref}`,
  }),
  refText: t.string({
    nullable: false,
    description: 'HTML text naming the ref',
    resolve: (pipeline) => refText(pipeline, ciPaths(web).commitsPath(pipeline)),
  }),
  type: t.string({
    nullable: false,
    description: 'Kind of ref: branch, tag or merge_request',
    resolve: ({ isTag, source }) => (isTag ? 'tag' : source === 'merge_request_event' ? 'merge_request' : 'branch'),
  }),
})

const refText = ({ ref, isTag }: Pipeline, path: string | undefined): string =>
  ref === undefined || path === undefined ? '' : html`for ${isTag ? 'tag' : 'branch'} <a href="${path}">${ref}</a>`.text

const activeStatuses = new Set([
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'canceling',
])
/** Returns whether the pipeline or job is in progress or about to start. */
export const isActive = ({ status }: { readonly status: string }): boolean => activeStatuses.has(status)

function stateFields(t: FieldsOf<Pipeline>) {
  const is = (resolve: (pipeline: Pipeline) => boolean) => t.boolean({ nullable: false, resolve })
  const { alwaysFalse } = constantFields(t)
  return {
    active: is(isActive),
    complete: is(({ status }) => isComplete(status)),
    latest: t.boolean({
      nullable: false,
      description: 'Whether this is the newest pipeline of its ref',
      resolve: (pipeline, _, context) => loadBatched(context, areLatestPipelines, pipeline),
    }),
    child: is(({ upstream, source }) =>
      upstream === undefined ? source === 'parent_pipeline' : !upstream.isOtherProject,
    ),
    trigger: is(({ source }) => source === 'trigger'),
    warnings: is(hasWarnings),
    stuck: alwaysFalse(),
    retryable: alwaysFalse(),
    cancelable: alwaysFalse(),
    yamlErrors: alwaysFalse(),
  }
}

const timeFields = (t: FieldsOf<Pipeline>) => ({
  duration: t.int({ description: 'Seconds; null until the pipeline has ended', resolve: wholeSeconds }),
  queuedDuration: t.field({ type: 'Duration', resolve: ({ queuedSeconds }) => queuedSeconds }),
  createdAt: t.field({ type: 'Time', nullable: false, resolve: createdAt }),
  updatedAt: t.field({ type: 'Time', nullable: false, resolve: ({ updatedAtMs }) => updatedAtMs }),
  startedAt: t.field({ type: 'Time', resolve: ({ startedAtMs }) => startedAtMs }),
  finishedAt: t.field({ type: 'Time', resolve: ({ finishedAtMs }) => finishedAtMs }),
  committedAt: t.field({ type: 'Time', resolve: ({ commit }) => commit?.committedAtMs }),
})

export const wholeSeconds = ({
  status,
  durationSeconds,
}: Pick<Pipeline, 'status' | 'durationSeconds'>): number | undefined =>
  isComplete(status) && durationSeconds !== undefined ? Math.round(durationSeconds) : undefined

/** Returns the creation time, or the earliest later time that the record has. */
export const createdAt = ({ createdAtMs, startedAtMs, updatedAtMs }: Pipeline): number =>
  createdAtMs ?? startedAtMs ?? updatedAtMs

function tallyFields(t: FieldsOf<Pipeline>) {
  const current = async (pipeline: Pipeline, status: PipelineStatus, context: RequestContext) =>
    (await loadBatched(context, talliesOfPipelines, pipeline)).currentByStatus.get(status) ?? 0
  return {
    totalJobs: t.int({
      nullable: false,
      description: 'Includes superseded attempts',
      resolve: async (pipeline, _, context) => (await loadBatched(context, talliesOfPipelines, pipeline)).all,
    }),
    failedJobsCount: t.int({
      nullable: false,
      resolve: (pipeline, _, context) => current(pipeline, 'failed', context),
    }),
    hasManualActions: t.boolean({
      nullable: false,
      description: 'Whether jobs wait to be started by hand',
      resolve: async (pipeline, _, context) => (await current(pipeline, 'manual', context)) > 0,
    }),
    hasScheduledActions: t.boolean({
      nullable: false,
      resolve: async (pipeline, _, context) => (await current(pipeline, 'scheduled', context)) > 0,
    }),
  }
}
