import type { JobOfPipeline } from '@penstock/core'
import { ciEnums } from './ci-enums.ts'
import type { Kit } from './kit.ts'
import type { Allows } from './pipelines.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    JobPermissions: Allows
    /** The job that has it. */
    CiJobArtifact: JobOfPipeline
    /** There are none of the following: records do not tell of them. */
    CiJobTrace: { readonly html: string }
    CiBuildNeed: { readonly id: number }
  }
}

/** What belongs to jobs. @see spec/graphql-contract.md 5.5 */
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
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.other('Ci::BuildNeed', id) }),
      name: t.string({ resolve: () => null }),
    }),
  })
  builder.objectType('CiJobArtifact', {
    description: 'Told of by the record of its job; it is kept elsewhere',
    fields: (t) => ({
      id: t.field({
        type: 'CiJobArtifactID',
        nullable: false,
        description: "A job tells of one at most, which has the job's number",
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
