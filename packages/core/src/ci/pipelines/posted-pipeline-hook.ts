import type { Job } from './pipeline.ts'
import type { PipelineHead } from './prepared-record.ts'

const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

/** Returns a pipeline of posted statuses in the form of a pipeline hook, from which it is exported like a recorded one. */
export function hookOfPosted(head: PipelineHead, jobs: readonly Job[]): string {
  const { commit } = head
  return JSON.stringify({
    object_kind: 'pipeline',
    object_attributes: {
      id: head.id,
      status: head.status,
      source: head.source,
      ref: head.ref,
      tag: head.isTag ?? false,
      sha: head.sha,
      stages: [...new Set(jobs.flatMap(({ stage }) => stage ?? []))],
      created_at: timeOf(head.createdAtMs),
      started_at: timeOf(head.startedAtMs),
      finished_at: timeOf(head.finishedAtMs),
      duration: head.durationSeconds ?? null,
      queued_duration: head.queuedSeconds ?? null,
      variables: [],
    },
    user: head.user ?? null,
    commit:
      commit === undefined
        ? null
        : {
            id: commit.id,
            title: commit.title,
            message: commit.message,
            timestamp: timeOf(commit.committedAtMs),
            author: { name: commit.authorName },
          },
    builds: jobs.map((job) => ({
      id: job.id,
      stage: job.stage,
      name: job.name,
      status: job.status,
      created_at: timeOf(job.createdAtMs),
      started_at: timeOf(job.startedAtMs),
      finished_at: timeOf(job.finishedAtMs),
      duration: job.durationSeconds ?? null,
      queued_duration: job.queuedSeconds ?? null,
      failure_reason: job.failureReason ?? null,
      allow_failure: job.allowFailure,
      user: job.user ?? null,
      runner: null,
      environment: null,
    })),
  })
}
