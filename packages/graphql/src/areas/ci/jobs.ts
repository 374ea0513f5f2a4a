import {
  downstreamsOfBridges,
  findEachProject,
  type JobOfPipeline,
  jobStatusWording,
  stagesOfPipelines,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed } from '../../schema/listed.ts'
import type { AnyFieldsOf } from '../../schema/schema-types.ts'
import { ciEnums } from './ci-enums.ts'
import { ciPaths, shortSha } from './ci-paths.ts'
import { addJobParts } from './job-parts.ts'
import { createdAt, isActive, knownStatus, permissionsAt, wholeSeconds } from './pipelines.ts'

/** The boolean fields that are non-null in `CiJob`, but nullable in `CiJobInterface`. */
const nonNullFlags: Readonly<Record<string, (job: JobOfPipeline) => boolean>> = {
  active: isActive,
  allowFailure: ({ allowFailure }) => allowFailure,
  scheduled: ({ status }) => status === 'scheduled',
  createdByTag: ({ pipeline }) => pipeline.isTag === true,
  // Jobs are recorded here, but run elsewhere.
  playable: () => false,
  retryable: () => false,
  cancelable: () => false,
  stuck: () => false,
  canPlayJob: () => false,
}

export function addJobs(kit: Kit): void {
  const { builder, connections, globalIds, web } = kit
  connections.count('CiJob', 'limited')
  connections.count('CiJobInterface', 'limited')
  const enums = ciEnums(kit)
  const { commitPath, commitsPath, jobPath } = ciPaths(web)
  addJobParts(kit)

  const kind = ({ isBridge }: JobOfPipeline) => (isBridge ? 'bridge' : 'build')
  const project = ({ pipeline }: JobOfPipeline, _: unknown, context: RequestContext) =>
    loadBatched(context, findEachProject, pipeline.projectId)
  const permissions = ({ pipeline }: JobOfPipeline, args: unknown, context: RequestContext) =>
    permissionsAt(pipeline, args, context)

  builder.interfaceType('CiJobInterface', {
    resolveType: () => 'CiJob',
    fields: (t) => ({
      id: t.field({
        type: 'JobID',
        resolve: ({ globalNumber, isBridge }) => globalIds.of(isBridge ? 'Ci::Bridge' : 'Ci::Build', globalNumber),
      }),
      name: t.exposeString('name'),
      kind: t.field({ type: enums.jobKind, resolve: kind }),
      status: t.field({
        type: enums.jobStatus,
        description: 'Null if the recorded status is unknown; detailedStatus shows it',
        resolve: ({ status }) => knownStatus(status),
      }),
      detailedStatus: t.field({
        type: 'DetailedStatus',
        resolve: (job) => ({ wording: jobStatusWording(job), subjectId: job.globalNumber, path: jobPath(job) }),
      }),
      stage: t.field({
        type: 'CiStage',
        resolve: ({ pipeline, stage }) => (stage === undefined ? null : { pipeline, name: stage }),
      }),
      pipeline: t.field({ type: 'PipelineInterface', resolve: ({ pipeline }) => pipeline }),
      project: t.field({ type: 'ProjectInterface', resolve: project }),
      ...Object.fromEntries(Object.entries(nonNullFlags).map(([name, resolve]) => [name, t.boolean({ resolve })])),
      manualJob: t.boolean({
        resolve: ({ isManual, when }) => isManual ?? (when === undefined ? null : when === 'manual'),
      }),
      retried: t.boolean({ resolve: ({ isRetried }) => isRetried }),
      triggered: t.boolean({ resolve: ({ pipeline }) => pipeline.source === 'trigger' }),
      createdAt: t.field({ type: 'Time', resolve: createdAtOf }),
      queuedAt: t.field({
        type: 'Time',
        description: 'Computed from the start and the time in the queue',
        resolve: ({ startedAtMs, queuedSeconds }) =>
          startedAtMs === undefined || queuedSeconds === undefined
            ? null
            : Math.max(0, Math.round(startedAtMs - queuedSeconds * 1_000)),
      }),
      startedAt: t.field({ type: 'Time', resolve: ({ startedAtMs }) => startedAtMs }),
      finishedAt: t.field({ type: 'Time', resolve: ({ finishedAtMs }) => finishedAtMs }),
      duration: t.int({ description: 'Seconds; null until the job has ended', resolve: wholeSeconds }),
      queuedDuration: t.field({ type: 'Duration', resolve: ({ queuedSeconds }) => queuedSeconds }),
      coverage: t.float({ resolve: () => null }),
      refName: t.string({ resolve: ({ pipeline }) => pipeline.ref }),
      refPath: t.string({ resolve: ({ pipeline }) => commitsPath(pipeline) }),
      shortSha: t.string({ resolve: ({ pipeline }) => shortSha(pipeline) }),
      commitPath: t.string({ resolve: ({ pipeline }) => commitPath(pipeline) }),
      webPath: t.string({ resolve: jobPath }),
      source: t.string({ resolve: ({ pipeline }) => pipeline.source }),
      failureMessage: t.string({ resolve: ({ failureReason }) => failureReason?.replaceAll('_', ' ') }),
      tags: t.stringList({
        description: 'Tags that the job requires of a runner; always empty, because they are not recorded',
        resolve: () => [],
      }),
      exitCode: t.int({ resolve: () => null }),
      ...unrecordedFields(t),
      runner: t.field({
        type: 'CiRunner',
        resolve: ({ runner }) => (runner?.id === undefined ? null : { ...runner, id: runner.id }),
      }),
      artifacts: connectionField(kit, t, 'CiJobArtifact', {
        list: async (job) => listed(job.artifacts === undefined ? [] : [job]),
      }),
      trace: t.field({ type: 'CiJobTrace', resolve: () => null }),
      userPermissions: t.field({ type: 'JobPermissions', resolve: permissions }),
    }),
  })

  builder.objectType('CiJob', {
    description: 'Build, bridge or external status',
    interfaces: ['CiJobInterface'],
    fields: (t) => ({
      kind: t.field({ type: enums.jobKind, nullable: false, resolve: kind }),
      project: t.field({ type: 'Project', resolve: project }),
      ...Object.fromEntries(
        Object.entries(nonNullFlags).map(([name, resolve]) => [name, t.boolean({ nullable: false, resolve })]),
      ),
      createdAt: t.field({ type: 'Time', nullable: false, resolve: createdAtOf }),
      shortSha: t.string({ nullable: false, resolve: ({ pipeline }) => shortSha(pipeline) ?? '' }),
      userPermissions: t.field({ type: 'JobPermissions', nullable: false, resolve: permissions }),
      downstreamPipeline: t.field({
        type: 'Pipeline',
        description: 'Bridges only: the pipeline this job started',
        resolve: (job, _, context) => (job.isBridge ? loadBatched(context, downstreamsOfBridges, job) : null),
      }),
      needs: connectionField(kit, t, 'CiBuildNeed', { list: async () => listed([]) }),
      previousStageJobs: connectionField(kit, t, 'CiJob', {
        list: async ({ pipeline, stage }, _, context) => {
          const stages = await loadBatched(context, stagesOfPipelines, pipeline)
          const index = stages.findIndex(({ name }) => name === stage)
          return listed(stages[index - 1]?.jobs ?? [])
        },
      }),
      manualVariables: connectionField(kit, t, 'CiManualVariable', {
        description: 'Always null: not recorded, because values may be secret',
        list: () => null,
      }),
    }),
  })
}

/** Returns the fields that job records do not contain. */
function unrecordedFields(t: AnyFieldsOf<JobOfPipeline>) {
  const { nullText, nullTime } = constantFields(t)
  return {
    scheduledAt: nullTime(),
    erasedAt: nullTime(),
    playPath: nullText(),
    retryPath: nullText(),
    schedulingType: nullText(),
    browseArtifactsPath: nullText(),
  }
}

const createdAtOf = ({ createdAtMs, startedAtMs, pipeline }: JobOfPipeline): number =>
  createdAtMs ?? startedAtMs ?? createdAt(pipeline)
