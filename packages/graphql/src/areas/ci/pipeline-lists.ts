import {
  countPipelinesOfEach,
  findPipelineOfEach,
  latestPipelineOfEachCommit,
  listDownstreamsOfEach,
  listPipelinesOfEach,
  listPipelinesOfEachCommit,
  listPipelinesOfEachMergeRequest,
  type Pipeline,
  type PipelineCounts,
  sourceJobsOfPipelines,
  upstreamsOfPipelines,
} from '@penstock/core'
import { GraphQLError } from 'graphql'
import { loadBatched } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { type Cost, lookup, repositoryRead, withCost } from '../../schema/cost.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'
import { iidIn } from '../issues/issuable-types.ts'
import { ciEnums } from './ci-enums.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    PipelineCounts: PipelineCounts
    CiPipelineCreationRequest: PipelineCreationRequest
  }
}

/** A request to create a pipeline. There are none, because this service does not start pipelines. */
interface PipelineCreationRequest {
  readonly id: string
  readonly pipeline: Pipeline | undefined
}

/** The cost of a list of pipelines. */
const pipelineLookup: Cost = { resolver: true, arguments: { ref: 2, sha: 2 } }

/** Adds the fields that find and list pipelines. */
export function addPipelineLists(kit: Kit): void {
  const { builder, globalIds } = kit
  const enums = ciEnums(kit)
  const { refType } = sharedEnums(kit)
  addParts(kit)

  const filters = (t: ArgumentsMaker) => ({
    ids: t.arg.idList(),
    ref: t.arg.string(),
    refType: t.arg({ type: refType }),
    scope: t.arg({ type: enums.pipelineScope }),
    sha: t.arg.string(),
    source: t.arg.string(),
    status: t.arg({ type: enums.pipelineStatus }),
    updatedAfter: t.arg({ type: 'Time' }),
    updatedBefore: t.arg({ type: 'Time' }),
    username: t.arg.string(),
  })
  const inputOf = ({ ids, refType: type, ...rest }: PipelineArguments) => ({
    ...omitNullish({ ...rest, globalNumbers: globalIds.numbersInArgument(ids, 'Ci::Pipeline') }),
    ...(type != null && { isTag: type === 'TAGS' }),
  })

  builder.objectFields('Project', (t) => ({
    pipeline: t.field({
      type: 'Pipeline',
      ...withCost({ resolver: true, repository: true, anyArgument: -10 }),
      args: { id: t.arg({ type: 'CiPipelineID' }), iid: t.arg.string(), sha: t.arg.string() },
      resolve: (project, { id, iid, sha }, context) => {
        const named = omitNullish({ globalNumber: id, iid: iid == null ? iid : iidIn(iid), sha })
        if (Object.keys(named).length > 1) {
          throw new GraphQLError('Only one of [id, iid, sha] arguments is allowed at the same time.')
        }
        return loadBatched(context, findPipelineOfEach, project, named)
      },
    }),
    pipelines: connectionField(kit, t, 'Pipeline', {
      cost: pipelineLookup,
      args: filters(t),
      list: (project, args, context) => loadBatched(context, listPipelinesOfEach, project, inputOf(args)),
    }),
    pipelineCounts: t.field({
      type: 'PipelineCounts',
      ...withCost(lookup),
      args: { ref: t.arg.string(), sha: t.arg.string(), source: t.arg.string() },
      resolve: (project, args, context) => loadBatched(context, countPipelinesOfEach, project, omitNullish(args)),
    }),
    ciPipelineCreationRequest: t.field({
      type: 'CiPipelineCreationRequest',
      args: { requestId: t.arg.string({ required: true }) },
      resolve: () => null,
    }),
  }))

  builder.objectFields('Commit', (t) => ({
    latestPipeline: t.field({
      type: 'Pipeline',
      ...withCost(repositoryRead),
      args: { ref: t.arg.string() },
      resolve: (commit, args, context) => loadBatched(context, latestPipelineOfEachCommit, commit, omitNullish(args)),
    }),
    pipelines: connectionField(kit, t, 'Pipeline', {
      cost: pipelineLookup,
      args: filters(t),
      list: (commit, args, context) => loadBatched(context, listPipelinesOfEachCommit, commit, inputOf(args)),
    }),
  }))

  builder.objectFields('MergeRequest', (t) => ({
    pipelines: connectionField(kit, t, 'Pipeline', {
      description: 'Pipelines of the source branch',
      cost: pipelineLookup,
      args: filters(t),
      list: (mergeRequest, args, context) =>
        loadBatched(context, listPipelinesOfEachMergeRequest, mergeRequest, inputOf(args)),
    }),
  }))

  builder.objectFields('Pipeline', (t) => ({
    downstream: connectionField(kit, t, 'Pipeline', {
      list: (pipeline, _, context) => loadBatched(context, listDownstreamsOfEach, pipeline),
    }),
    upstream: t.field({
      type: 'Pipeline',
      resolve: (pipeline, _, context) => loadBatched(context, upstreamsOfPipelines, pipeline),
    }),
    sourceJob: t.field({
      type: 'CiJob',
      resolve: (pipeline, _, context) => loadBatched(context, sourceJobsOfPipelines, pipeline),
    }),
  }))
}

function addParts(kit: Kit): void {
  const { builder, globalIds } = kit
  const enums = ciEnums(kit)
  builder.objectType('PipelineCounts', {
    fields: (t) => ({
      all: t.exposeInt('all'),
      running: t.exposeInt('running'),
      pending: t.exposeInt('pending'),
      finished: t.exposeInt('finished'),
    }),
  })
  builder.objectType('CiPipelineCreationRequest', {
    fields: (t) => ({
      id: t.string({ resolve: ({ id }) => globalIds.ofType('CiPipelineCreationRequest', id) }),
      status: t.field({ type: enums.creationStatus, nullable: false, resolve: () => 'FAILED' as const }),
      error: t.string({ resolve: () => null }),
      pipelineId: t.field({
        type: 'CiPipelineID',
        resolve: ({ pipeline }) => pipeline && globalIds.of('Ci::Pipeline', pipeline.globalNumber),
      }),
      pipeline: t.field({ type: 'Pipeline', resolve: ({ pipeline }) => pipeline }),
      userInitiated: t.boolean({ nullable: false, resolve: () => true }),
    }),
  })
}

interface PipelineArguments {
  readonly ids?: readonly string[] | null | undefined
  readonly refType?: 'HEADS' | 'TAGS' | null | undefined
}
