import {
  findEachStage,
  type JobGroup,
  jobGroupsOf,
  type Stage,
  type StageOfPipeline,
  stagesOfPipelines,
  statusWording,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed } from '../../schema/listed.ts'
import { ciPaths } from './ci-paths.ts'

interface GroupOfStage {
  readonly group: JobGroup
  readonly stage: Stage
  readonly of: StageOfPipeline
}

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    CiStage: StageOfPipeline
    CiGroup: GroupOfStage
  }
}

export function addStages(kit: Kit): void {
  const { builder, globalIds, web } = kit
  const { stagePath } = ciPaths(web)

  builder.objectType('CiStage', {
    fields: (t) => ({
      id: t.id({
        nullable: false,
        resolve: async (stage, _, context) => globalIds.of('Ci::Stage', (await stageAt(stage, context)).id),
      }),
      name: t.exposeString('name'),
      status: t.string({
        description: 'Lower-case status',
        resolve: async (stage, _, context) => (await stageAt(stage, context)).status,
      }),
      detailedStatus: t.field({
        type: 'DetailedStatus',
        resolve: async (of, _, context) => {
          const { id, status, hasWarnings } = await stageAt(of, context)
          return { wording: statusWording(status, hasWarnings), subjectId: id, path: stagePath(of) }
        },
      }),
      groups: connectionField(kit, t, 'CiGroup', {
        list: async (of, _, context) => {
          const stage = await stageAt(of, context)
          return listed(jobGroupsOf(stage).map((group) => ({ group, stage, of })))
        },
      }),
      jobs: connectionField(kit, t, 'CiJob', {
        description: 'Current jobs, by name',
        list: async (stage, _, context) => listed((await stageAt(stage, context)).jobs),
      }),
    }),
  })

  builder.objectType('CiGroup', {
    description: 'Jobs of one stage that share a base name (parallel or matrix runs)',
    fields: (t) => ({
      id: t.string({ nullable: false, resolve: (source) => globalIds.ofType('CiGroup', groupId(source)) }),
      name: t.string({ resolve: ({ group }) => group.name }),
      size: t.int({ resolve: ({ group }) => group.jobs.length }),
      detailedStatus: t.field({
        type: 'DetailedStatus',
        resolve: (source) => {
          const { status, hasWarnings } = source.group
          return {
            wording: statusWording(status, hasWarnings),
            subjectId: groupId(source),
            path: stagePath(source.of),
          }
        },
      }),
      jobs: connectionField(kit, t, 'CiJob', { list: async ({ group }) => listed(group.jobs) }),
    }),
  })

  builder.objectFields('Pipeline', (t) => ({
    stages: connectionField(kit, t, 'CiStage', {
      description: 'Ordered by their first jobs',
      cost: lookup,
      list: async (pipeline, _, context) => {
        const stages = await loadBatched(context, stagesOfPipelines, pipeline)
        return listed(stages.map(({ name }) => ({ pipeline, name })))
      },
    }),
  }))

  builder.queryField('ciPipelineStage', (t) =>
    t.field({
      type: 'CiStage',
      args: { id: t.arg({ type: 'CiStageID', required: true }) },
      resolve: (_root, { id }, context) => loadBatched(context, findEachStage, id),
    }),
  )
}

/** Loads a stage, together with the requested stages of other pipelines. Lists of stages contain only their names. */
async function stageAt({ pipeline, name }: StageOfPipeline, context: RequestContext): Promise<Stage> {
  const stages = await loadBatched(context, stagesOfPipelines, pipeline)
  return stages.find((stage) => stage.name === name)!
}

/** Returns the id of a job group. A group of jobs without a name has the id of its first job. */
const groupId = ({ stage, group }: GroupOfStage): string => `${stage.id}-${group.name ?? group.jobs[0]!.id}`
