import {
  count,
  date,
  type Fields,
  requiredRunId,
  requiredSection,
  requiredText,
  section,
  text,
} from '../body/fields.ts'
import { hasNextPage, listSections } from '../body/list-answer.ts'
import { url } from '../body/url.ts'
import { absentRunFields } from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import { toJobEvent } from '../record/to-job-event.ts'
import { readJob } from './job.ts'
import { longSlug, readSource } from './project.ts'
import { circleciFailureReason, circleciStatus } from './status-words.ts'

const FORGE = 'circleci'

/** Reads `workflow-completed`. It lists no jobs. */
export function readWorkflowHook(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  return { ...readRun(hook, receivedAtNs), jobs: [], jobsUnknown: true }
}

/** Reads `{ pipeline, workflow, jobs }` of the REST API. */
export function readBundle(bundle: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = readRun(bundle, receivedAtNs)
  const { createdAtNs, url: runUrl } = run
  const listed = (listSections(bundle, 'jobs', 'items') ?? []).map((job) => readJob(job, runUrl))
  // A workflow that reruns an earlier one lists the jobs that it did not run again.
  const own = listed.filter(
    ({ finishedAtNs }) => createdAtNs === undefined || finishedAtNs === undefined || finishedAtNs >= createdAtNs,
  )
  const isPartial = hasNextPage(bundle, 'jobs', 'next_page_token')
  return { ...run, jobs: sortJobs(own), jobsUnreadable: isPartial || undefined }
}

/** Reads `job-completed`. */
export function readJobHook(hook: Fields, receivedAtNs: bigint | undefined): JobEvent {
  const workflow = requiredSection(hook, 'workflow')
  const { project } = readSource(section(hook, 'pipeline') ?? workflow, section(hook, 'project'), readSlug(hook))
  const job = readJob(requiredSection(hook, 'job'), url(workflow, 'url'))
  return toJobEvent(job, { forge: FORGE, pipelineId: requiredRunId(workflow, 'id'), project, receivedAtNs })
}

function readRun(body: Fields, receivedAtNs: bigint | undefined): Omit<PipelineRecord, 'jobs'> {
  const pipeline = requiredSection(body, 'pipeline')
  const workflow = requiredSection(body, 'workflow')
  const id = requiredRunId(workflow, 'id')
  const word = requiredText(workflow, 'status')
  const slug = readSlug(body)
  const { project, ...source } = readSource(pipeline, section(body, 'project'), slug)
  const number = count(pipeline, 'number')
  const reruns = count(workflow, 'auto_rerun_number')
  return {
    ...absentRunFields,
    ...source,
    forge: FORGE,
    id,
    attempt: reruns === undefined ? undefined : reruns + 1,
    attemptHasOwnId: true,
    iid: number === undefined ? undefined : BigInt(number),
    name: text(workflow, 'name'),
    status: circleciStatus(word),
    createdAtNs: date(workflow, 'created_at'),
    finishedAtNs: date(workflow, 'stopped_at'),
    url: url(workflow, 'url') ?? workflowUrl(slug, number, String(id)),
    failureReason: circleciFailureReason(word),
    project,
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Reads the slug of the project, which REST repeats in the pipeline and in the workflow. */
function readSlug(body: Fields): string | undefined {
  const project = section(body, 'project')
  const [pipeline, workflow] = [section(body, 'pipeline'), section(body, 'workflow')]
  return (
    (project && text(project, 'slug')) ??
    (pipeline && text(pipeline, 'project_slug')) ??
    (workflow && text(workflow, 'project_slug'))
  )
}

/** Returns the URL of a workflow, which hooks contain and REST does not. */
function workflowUrl(slug: string | undefined, number: number | undefined, id: string): string | undefined {
  if (slug === undefined || number === undefined) return undefined
  return `https://app.circleci.com/pipelines/${longSlug(slug)}/${number}/workflows/${id}`
}
