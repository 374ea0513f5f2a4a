import type { CommitStatus } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { Shape } from '../../routing/route.ts'
import { recordedUserShape } from './pipeline-shape.ts'

/** A recorded job of a commit, or a status that a program has posted for it. */
export const commitStatusShape: Shape<CommitStatus> = {
  schema: z
    .object({
      id: z.int(),
      sha: z.string(),
      ref: z.string().nullable(),
      status: z.string(),
      name: z.string().nullable(),
      target_url: z.string().nullable(),
      description: z.string().nullable(),
      created_at: z.string().nullable(),
      started_at: z.string().nullable(),
      finished_at: z.string().nullable(),
      allow_failure: z.boolean(),
      coverage: z.number().nullable(),
      pipeline_id: z.int(),
      author: recordedUserShape.schema,
    })
    .meta({ id: 'CommitStatus' }),
  of: ({ sha, pipeline, user, posted, ...job }, context) => ({
    id: job.id,
    sha,
    ref: pipeline.ref ?? null,
    status: job.status,
    name: job.name ?? null,
    target_url:
      posted === undefined
        ? `${context.externalUrl}/${pipeline.projectPath}/-/jobs/${job.id}`
        : (posted.targetUrl ?? null),
    description: posted?.description ?? null,
    created_at: isoTime(job.createdAtMs),
    started_at: isoTime(job.startedAtMs),
    finished_at: isoTime(job.finishedAtMs),
    allow_failure: job.allowFailure,
    coverage: posted?.coverage ?? null,
    pipeline_id: pipeline.id,
    author: recordedUserShape.of(user, context),
  }),
}
