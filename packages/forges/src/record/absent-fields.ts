import type { JobRecord, MergeRequestRecord, PipelineRecord, RunnerRecord } from './pipeline-record.ts'

/** The optional fields of a run, all absent. A reader sets those that its forge tells. */
export const absentRunFields = {
  attempt: undefined,
  previousAttempt: undefined,
  iid: undefined,
  name: undefined,
  detailedStatus: undefined,
  ref: undefined,
  tag: undefined,
  sha: undefined,
  beforeSha: undefined,
  source: undefined,
  stages: [],
  createdAtNs: undefined,
  startedAtNs: undefined,
  updatedAtNs: undefined,
  finishedAtNs: undefined,
  durationSeconds: undefined,
  queuedSeconds: undefined,
  protectedRef: undefined,
  url: undefined,
  failureReason: undefined,
  rootPipelineId: undefined,
  upstream: undefined,
  mergeRequest: undefined,
  user: undefined,
  commit: undefined,
  jobsUnknown: undefined,
} as const satisfies Partial<PipelineRecord>

/** The optional fields of a job, all absent. */
export const absentJobFields = {
  name: undefined,
  stage: undefined,
  createdAtNs: undefined,
  startedAtNs: undefined,
  finishedAtNs: undefined,
  durationSeconds: undefined,
  queuedSeconds: undefined,
  failureReason: undefined,
  when: undefined,
  manual: undefined,
  url: undefined,
  user: undefined,
  runner: undefined,
  artifacts: undefined,
  environment: undefined,
  coverage: undefined,
  requiredTags: undefined,
  downstream: undefined,
  attempt: undefined,
  previousAttemptId: undefined,
} as const satisfies Partial<JobRecord>

/** The optional fields of a runner, all absent. */
export const absentRunnerFields = {
  id: undefined,
  name: undefined,
  group: undefined,
  url: undefined,
  description: undefined,
  tags: [],
  type: undefined,
  active: undefined,
  isShared: undefined,
} as const satisfies RunnerRecord

/** The optional fields of a merge request, all absent. */
export const absentMergeRequestFields = {
  id: undefined,
  iid: undefined,
  title: undefined,
  state: undefined,
  draft: false,
  targetBranch: undefined,
} as const satisfies MergeRequestRecord
