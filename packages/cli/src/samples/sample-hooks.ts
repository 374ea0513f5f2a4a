import { createHash } from 'node:crypto'
import { chanceOf } from './chance.ts'
import { people, projects } from './company.ts'
import { slowerFates } from './earlier-runs.ts'
import { benchRunner, poolRunner, recipes } from './recipes.ts'
import { type Attempt, type Schedule, scheduleRun } from './run-schedule.ts'
import { type Run, runs } from './runs.ts'
import { HOUR_MS, historyKey, type SampleCommit, type SampleHistories } from './sample-commits.ts'

/** The values that the sample pipelines contain in addition to the sample tables. */
export interface SampleWorld {
  /** The end of the time in which the pipelines ran. */
  readonly nowMs: number
  /** The base URL of projects, without a trailing slash. */
  readonly externalUrl: string
  /** Project ids by full path. */
  readonly projectIds: ReadonlyMap<string, number>
  /** User ids by username. */
  readonly userIds: ReadonlyMap<string, number>
  readonly histories: SampleHistories
}

/** A pipeline, with the last hook that its forge would have sent. */
export interface SampleRecord {
  /** The full path of the project. */
  readonly project: string
  readonly by: string
  readonly pipelineId: number
  /** Whether it ran before the last two days. */
  readonly isEarlier: boolean
  /** The body of the pipeline hook. */
  readonly hook: Readonly<Record<string, unknown>>
}

/** The first ids of the earlier runs, and of the runs of the last two days. */
const FIRST_PIPELINE = { earlier: 101, recent: 1_001 }
const FIRST_JOB = { earlier: 2_001, recent: 20_001 }
const FIRST_MERGE_REQUEST = 900
const NO_SHA = '0'.repeat(40)

const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

const detailedStatuses: Readonly<Record<Schedule['status'], string>> = {
  success: 'passed',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
  manual: 'waiting for manual action',
}

/** The bridge that started a pipeline. */
interface Upstream {
  readonly project: string
  readonly pipelineId: number
  readonly bridgeId: number
  readonly rootId: number
}

/**
 * Returns all pipelines of the sample workspace, in the order in which their last hooks would have arrived. The same
 * world results in the same bytes.
 */
export function sampleRecords(world: SampleWorld, earlierRuns: readonly Run[] = []): SampleRecord[] {
  const finished: { readonly record: SampleRecord; readonly atMs: number }[] = []
  const iids = new Map<string, number>()
  let pipelineId = FIRST_PIPELINE.earlier
  let jobId = FIRST_JOB.earlier

  const execute = (run: Run, createdMs: number, upstream: Upstream | undefined): Schedule => {
    const id = pipelineId++
    const iid = (iids.get(run.project) ?? 0) + 1
    iids.set(run.project, iid)
    const jobs = recipes[run.recipe]!
    const ids = new Map(jobs.map((job) => [job.name, jobId++]))
    const isChild = upstream?.project === run.project
    const rootId = isChild ? upstream.rootId : id
    const schedule = scheduleRun({
      jobs,
      fates: run.fates ?? {},
      createdMs,
      chance: (name) => chanceOf(run.project, String(iid), name),
      startBridge: ({ name, starts }, atMs) => {
        const project = starts!.project ?? run.project
        const source = project === run.project ? 'parent_pipeline' : 'pipeline'
        const from = { project: run.project, pipelineId: id, bridgeId: ids.get(name)!, rootId }
        return execute({ ...run, project, source, recipe: starts!.recipe }, atMs, from)
      },
    })
    const tries = schedule.attempts.map((attempt, index, all) => ({
      attempt,
      // A second attempt is a separate job.
      id: index > 0 && all[index - 1]!.job.name === attempt.job.name ? jobId++ : ids.get(attempt.job.name)!,
    }))
    const hook = hookOf(world, { run, id, iid, rootId, createdMs, upstream }, schedule, tries)
    const record = { project: run.project, by: run.by, pipelineId: id, isEarlier: run.isEarlier ?? false, hook }
    finished.push({ record, atMs: schedule.finishedMs ?? createdMs })
    return schedule
  }

  const start = (run: Run) => execute(run, world.nowMs - Math.round(run.hoursAgo * HOUR_MS), undefined)
  for (const run of earlierRuns) start(run)
  pipelineId = FIRST_PIPELINE.recent
  jobId = FIRST_JOB.recent
  for (const run of runs) start({ ...run, fates: { ...slowerFates(run.hoursAgo / 24), ...run.fates } })
  return finished.toSorted((a, b) => a.atMs - b.atMs).map(({ record }) => record)
}

interface PipelineStart {
  readonly run: Run
  readonly id: number
  readonly iid: number
  readonly rootId: number
  readonly createdMs: number
  readonly upstream: Upstream | undefined
}

interface NumberedAttempt {
  readonly attempt: Attempt
  readonly id: number
}

function hookOf(
  world: SampleWorld,
  { run, id, iid, rootId, createdMs, upstream }: PipelineStart,
  { status, attempts, finishedMs }: Schedule,
  tries: readonly NumberedAttempt[],
): SampleRecord['hook'] {
  const { project: path, ref = 'main' } = run
  const { sha, title, parentSha, atMs } = commitFor(world, run, createdMs, upstream)
  const user = userOf(world, run.by)
  const project = projectOf(world, path)
  const firstStartMs = Math.min(...attempts.flatMap(({ ran }) => ran?.startedMs ?? []))
  const ranSeconds = busySeconds(attempts)
  const isWarned =
    status === 'success' && attempts.some((attempt) => attempt.status === 'failed' && attempt.job.mayFail)
  const builds = tries.filter(({ attempt }) => attempt.job.starts === undefined)
  const bridges = tries.filter(({ attempt }) => attempt.job.starts !== undefined)
  return {
    object_kind: 'pipeline',
    object_attributes: {
      ...{ id, iid, name: run.name ?? null, ref, tag: run.isTag ?? false, sha },
      before_sha: (run.source === 'push' && run.isTag === undefined && parentSha) || NO_SHA,
      source: run.source,
      status,
      detailed_status: isWarned ? 'passed with warnings' : detailedStatuses[status],
      stages: [...new Set(attempts.map(({ job }) => job.stage))],
      created_at: timeOf(createdMs),
      finished_at: timeOf(finishedMs),
      duration: status === 'manual' || ranSeconds === 0 ? null : ranSeconds,
      queued_duration: Number.isFinite(firstStartMs) ? Math.round((firstStartMs - createdMs) / 1_000) || null : null,
      protected_ref: ref === 'main' || run.isTag === true,
      variables: [],
      url: `${project.web_url}/-/pipelines/${id}`,
      root_pipeline_id: rootId,
    },
    merge_request: run.change === undefined ? null : mergeRequestOf(world, run.change),
    user,
    project,
    commit: {
      id: sha,
      message: `${title}\n`,
      title,
      timestamp: timeOf(atMs),
      url: `${project.web_url}/-/commit/${sha}`,
      author: { name: user.name, email: '[REDACTED]' },
    },
    builds: builds.map((each) => buildOf(each, user, ref, path)),
    bridges: bridges.map((each) => ({ ...buildOf(each, user, ref, path), bridge: true })),
    ...(upstream && { source_pipeline: sourceOf(world, upstream) }),
  }
}

/** The time between the commit of an earlier run and the run. */
const EARLIER_PUSH_MS = 40_000

/**
 * Returns the commit of a run: the commit with the run's title. If the pipeline was started from another project, it is
 * the newest commit of the branch at that time.
 */
function commitFor(
  { histories }: SampleWorld,
  { project, ref = 'main', title, isEarlier }: Run,
  createdMs: number,
  upstream: Upstream | undefined,
): SampleCommit {
  if (isEarlier) {
    const sha = createHash('sha1').update(`${project}\n${title}\n${createdMs}`).digest('hex')
    return { sha, title, parentSha: undefined, atMs: createdMs - EARLIER_PUSH_MS }
  }
  const history = histories.get(historyKey(project, ref))!
  const isFromElsewhere = upstream !== undefined && upstream.project !== project
  const found = history.find((commit) => (isFromElsewhere ? commit.atMs <= createdMs : commit.title === title))
  return found ?? history.at(-1)!
}

function buildOf({ attempt, id }: NumberedAttempt, user: object, ref: string, path: string): object {
  const { job, status, failureReason, createdMs, ran, isPlayed } = attempt
  const { artifact, environment } = job
  const name = environment?.name.replace('$REF', ref)
  return {
    ...{ id, stage: job.stage, name: job.name, status },
    created_at: timeOf(createdMs),
    started_at: timeOf(ran?.startedMs),
    finished_at: timeOf(ran?.finishedMs),
    duration: ran === undefined ? null : (ran.finishedMs - ran.startedMs) / 1_000,
    queued_duration: ran === undefined ? null : (ran.startedMs - ran.readyMs) / 1_000,
    failure_reason: failureReason ?? null,
    when: job.manual === undefined ? (job.when ?? 'on_success') : 'manual',
    manual: job.manual !== undefined,
    allow_failure: job.mayFail === true || job.manual === 'optional',
    user: job.manual === undefined || isPlayed ? user : null,
    runner: ran === undefined || job.starts !== undefined ? null : job.onBench ? benchRunner : poolRunner(ran.slot),
    artifacts_file:
      artifact === undefined || status !== 'success'
        ? { filename: null, size: null }
        : { ...artifactOf(artifact, path, id) },
    environment: environment === undefined ? null : { name, action: 'start', deployment_tier: environment.tier },
  }
}

const artifactOf = ({ filename, bytes }: { filename: string; bytes: number }, path: string, id: number) => ({
  filename,
  size: Math.round(bytes * (0.9 + 0.2 * chanceOf(path, String(id), filename))),
})

/** Returns the whole seconds in which at least one job was running. Bridges do not count. */
function busySeconds(attempts: readonly Attempt[]): number {
  const spans = attempts
    .flatMap(({ job, ran }) => (ran === undefined || job.starts !== undefined ? [] : [ran]))
    .toSorted((a, b) => a.startedMs - b.startedMs)
  let busyMs = 0
  let untilMs = 0
  for (const { startedMs, finishedMs } of spans) {
    busyMs += Math.max(0, finishedMs - Math.max(startedMs, untilMs))
    untilMs = Math.max(untilMs, finishedMs)
  }
  return Math.round(busyMs / 1_000)
}

function userOf({ userIds }: SampleWorld, username: string) {
  const { name } = people.find((person) => person.username === username)!
  return { id: userIds.get(username)!, name, username, avatar_url: null, email: '[REDACTED]' }
}

const visibilityLevels = { private: 0, internal: 10, public: 20 }

function projectOf({ projectIds, externalUrl }: SampleWorld, path: string) {
  const { name, description, visibility } = projects.find((project) => project.path === path)!
  return {
    ...{ id: projectIds.get(path)!, name, description },
    web_url: `${externalUrl}/${path}`,
    namespace: path.split('/').at(-2)!,
    visibility_level: visibilityLevels[visibility],
    path_with_namespace: path,
    default_branch: 'main',
  }
}

function mergeRequestOf(
  world: SampleWorld,
  { project, iid, title, branch, state }: NonNullable<Run['change']>,
): object {
  const { id, web_url } = projectOf(world, project)
  return {
    ...{ id: FIRST_MERGE_REQUEST + iid, iid, title, state },
    ...{ source_branch: branch, source_project_id: id, target_branch: 'main', target_project_id: id },
    merge_status: 'can_be_merged',
    url: `${web_url}/-/merge_requests/${iid}`,
  }
}

function sourceOf(world: SampleWorld, { project, pipelineId, bridgeId }: Upstream): object {
  const { id, web_url, path_with_namespace } = projectOf(world, project)
  return {
    project: { id, web_url, path_with_namespace },
    pipeline_id: pipelineId,
    job_id: bridgeId,
    bridge_id: bridgeId,
  }
}
