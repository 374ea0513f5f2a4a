import { findEachRunner, type RecordedRunner } from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { ciEnums, type RunnerType, runnerTypes } from './ci-enums.ts'

/** A runner in the record of a job, if the record has its id. */
interface NumberedRunner extends RecordedRunner {
  readonly id: number
}

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    CiRunner: NumberedRunner
  }
}

export function addRunner(kit: Kit): void {
  const { builder, globalIds } = kit
  const enums = ciEnums(kit)

  builder.objectType('CiRunner', {
    description: 'Runner as described in the records of jobs',
    fields: (t) => ({
      id: t.field({ type: 'CiRunnerID', nullable: false, resolve: ({ id }) => globalIds.of('Ci::Runner', id) }),
      description: t.exposeString('description'),
      shortSha: t.string({ resolve: () => null }),
      runnerType: t.field({ type: enums.runnerType, nullable: false, resolve: typeOf }),
      status: t.field({
        type: enums.runnerStatus,
        nullable: false,
        description: 'Always OFFLINE: no runner is connected to this service',
        resolve: () => 'OFFLINE' as const,
      }),
      paused: t.boolean({ nullable: false, resolve: ({ isActive }) => isActive === false }),
      active: t.boolean({
        nullable: false,
        deprecationReason: 'Inverse of paused.',
        resolve: ({ isActive }) => isActive !== false,
      }),
      locked: t.boolean({ resolve: () => null }),
      runUntagged: t.boolean({
        nullable: false,
        description: 'True if the runner has no tags; false may be wrong',
        resolve: ({ tags }) => tags.length === 0,
      }),
      tagList: t.stringList({ resolve: ({ tags }) => [...tags] }),
      accessLevel: t.field({ type: enums.runnerAccess, nullable: false, resolve: () => 'NOT_PROTECTED' as const }),
      maximumTimeout: t.int({ resolve: () => null }),
      contactedAt: t.field({ type: 'Time', resolve: () => null }),
      createdAt: t.field({ type: 'Time', resolve: () => null }),
    }),
  })

  builder.queryField('runner', (t) =>
    t.field({
      type: 'CiRunner',
      ...withCost(lookup),
      args: { id: t.arg({ type: 'CiRunnerID', required: true }) },
      resolve: async (_root, { id }, context) => {
        const runner = await loadBatched(context, findEachRunner, id)
        return runner && { ...runner, id }
      },
    }),
  )
}

const typeOf = ({ type, isShared }: RecordedRunner): RunnerType =>
  runnerTypes.find((known) => known === type) ?? (isShared ? 'instance_type' : 'project_type')
