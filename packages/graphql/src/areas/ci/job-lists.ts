import {
  findJobOfEachPipeline,
  findJobOfEachProject,
  jobsOfPipelines,
  listAllJobs,
  listJobsOfEachPipeline,
  listJobsOfEachProject,
} from '@penstock/core'
import { GraphQLError } from 'graphql'
import { loadBatched, type RequestContext, readOrNull } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { iidIn } from '../issues/issuable-types.ts'
import { ciEnums } from './ci-enums.ts'

/** Adds the fields that find and list jobs. */
export function addJobLists(kit: Kit): void {
  const { builder } = kit
  const enums = ciEnums(kit)

  builder.objectFields('Pipeline', (t) => ({
    job: t.field({
      type: 'CiJob',
      args: { id: t.arg({ type: 'JobID' }), name: t.arg.string() },
      resolve: (pipeline, { id, name }, context) => {
        if (id == null && name == null) throw new GraphQLError('One of id or name is required')
        return loadBatched(context, findJobOfEachPipeline, pipeline, omitNullish({ globalNumber: id, name }))
      },
    }),
    jobs: connectionField(kit, t, 'CiJob', {
      description: 'Newest first',
      cost: lookup,
      args: {
        statuses: t.arg({ type: [enums.jobStatus] }),
        retried: t.arg.boolean(),
        jobKind: t.arg({ type: enums.jobKind }),
        whenExecuted: t.arg.stringList(),
      },
      list: (pipeline, { statuses, retried, jobKind, whenExecuted }, context) => {
        const input = omitNullish({ statuses, isRetried: retried, kind: jobKind, whens: whenExecuted })
        return loadBatched(context, listJobsOfEachPipeline, pipeline, input)
      },
    }),
    jobArtifacts: t.field({
      type: ['CiJobArtifact'],
      resolve: async (pipeline, _, context) =>
        (await loadBatched(context, jobsOfPipelines, pipeline)).filter(({ artifacts }) => artifacts !== undefined),
    }),
  }))

  builder.objectFields('Project', (t) => ({
    job: t.field({
      type: 'CiJob',
      args: { id: t.arg({ type: 'JobID', required: true }) },
      resolve: (project, { id }, context) => loadBatched(context, findJobOfEachProject, project, { globalNumber: id }),
    }),
    jobs: connectionField(kit, t, 'CiJob', {
      description: 'Newest first. One project per operation',
      cost: lookup,
      args: {
        statuses: t.arg({ type: [enums.jobStatus] }),
        kind: t.arg({ type: enums.jobKind }),
        name: t.arg.string(),
        pipelineIid: t.arg.string(),
        sources: t.arg({ type: [enums.jobSource] }),
        withArtifacts: t.arg.boolean(),
      },
      list: (project, { pipelineIid, withArtifacts, ...args }, context) => {
        requireSingleProject(context, project.id)
        const { statuses, kind, name, sources } = args
        const iid = pipelineIid == null ? undefined : iidIn(pipelineIid)
        const input = omitNullish({ statuses, kind, name, sources, pipelineIid: iid, hasArtifacts: withArtifacts })
        return loadBatched(context, listJobsOfEachProject, project, input)
      },
    }),
  }))

  builder.queryField('jobs', (t) =>
    connectionField(kit, t, 'CiJobInterface', {
      description: 'All jobs of the instance; null for non-administrators',
      cost: lookup,
      args: { statuses: t.arg({ type: [enums.jobStatus] }), runnerTypes: t.arg({ type: [enums.runnerType] }) },
      list: (_root, { statuses, runnerTypes }, context) =>
        readOrNull(context, listAllJobs, omitNullish({ statuses, runnerTypes })),
    }),
  )
}

const projectWithJobs = new WeakMap<RequestContext, number>()

/** Limits an operation to the jobs of one project, as GitLab does. @throws GraphQLError for a second project */
function requireSingleProject(context: RequestContext, id: number): void {
  const first = projectWithJobs.get(context) ?? id
  projectWithJobs.set(context, first)
  if (first !== id) throw new GraphQLError('"jobs" field can be requested only for 1 Project(s) at a time.')
}
