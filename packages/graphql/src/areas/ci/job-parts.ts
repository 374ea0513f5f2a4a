import type { JobOfPipeline } from '@penstock/core'
import type { Kit } from '../../schema/kit.ts'
import { ciEnums } from './ci-enums.ts'
import type { Allows } from './pipelines.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    JobPermissions: Allows
    /** The job that has the artifact. */
    CiJobArtifact: JobOfPipeline
    /** Job records contain no logs and no needs, so these types have no objects. */
    CiJobTrace: { readonly html: string }
    CiBuildNeed: { readonly id: number }
  }
}

/** Adds the types of job permissions, logs, needs and artifacts. */
export function addJobParts(kit: Kit): void {
  const { builder, globalIds } = kit
  const enums = ciEnums(kit)
  builder.objectType('JobPermissions', {
    fields: (t) => ({
      readBuild: t.boolean({ nullable: false, resolve: (allows) => allows('read_pipeline') }),
      updateBuild: t.boolean({ nullable: false, resolve: (allows) => allows('create_pipeline_record') }),
      cancelBuild: t.boolean({ nullable: false, resolve: (allows) => allows('create_pipeline_record') }),
      readJobArtifacts: t.boolean({ nullable: false, resolve: (allows) => allows('read_pipeline') }),
    }),
  })
  builder.objectType('CiJobTrace', {
    description: 'Tail of the log as HTML',
    fields: (t) => ({
      htmlSummary: t.string({
        nullable: false,
        args: { lastLines: t.arg.int({ defaultValue: 10 }) },
        resolve: ({ html }) => html,
      }),
    }),
  })
  builder.objectType('CiBuildNeed', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.ofType('Ci::BuildNeed', id) }),
      name: t.string({ resolve: () => null }),
    }),
  })
  builder.objectType('CiJobArtifact', {
    description: 'Artifact archive in the record of a job; its content is not stored here',
    fields: (t) => ({
      id: t.field({
        type: 'CiJobArtifactID',
        nullable: false,
        description: "Equal to the job's number, because a job has at most one archive",
        resolve: ({ globalNumber }) => globalIds.of('Ci::JobArtifact', globalNumber),
      }),
      name: t.string({ resolve: ({ artifacts }) => artifacts?.filename }),
      fileType: t.field({ type: enums.artifactType, resolve: () => 'ARCHIVE' as const }),
      size: t.field({ type: 'BigInt', nullable: false, resolve: ({ artifacts }) => artifacts?.size ?? 0 }),
      downloadPath: t.string({ resolve: () => null }),
      expireAt: t.field({ type: 'Time', resolve: () => null }),
      expired: t.boolean({ nullable: false, resolve: () => false }),
    }),
  })
}
