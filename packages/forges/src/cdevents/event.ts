import { date, type Fields, requiredRunId, requiredSection, requiredText, section, text } from '../body/fields.ts'
import { url } from '../body/url.ts'
import { absentJobFields, absentRunFields } from '../record/absent-fields.ts'
import { findEntry } from '../record/find-entry.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { PipelineRecord, ProjectRecord } from '../record/pipeline-record.ts'
import type { KnownStatus } from '../record/status.ts'
import { toJobEvent } from '../record/to-job-event.ts'

/** The outcomes of runs and tasks. `cancel` is in CDEvents since 0.5. */
export const outcomes: Readonly<Record<string, KnownStatus>> = {
  success: 'success',
  failure: 'failed',
  error: 'failed',
  cancel: 'canceled',
  canceled: 'canceled',
  cancelled: 'canceled',
  skip: 'skipped',
  skipped: 'skipped',
}

/** The reason of a failure that the run or task did not cause itself. */
const ERROR_REASON = 'infrastructure_failure'

interface Outcome {
  readonly status: string
  readonly failureReason: string | undefined
}

/** Reads a `pipelinerun.finished` event. It contains the end of the run and no jobs. */
export function readPipelineRun(event: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const { subject, content } = subjectParts(event)
  return {
    ...absentRunFields,
    forge: 'cdevents',
    id: requiredRunId(subject, 'id'),
    ...readOutcome(content),
    name: text(content, 'pipelineName'),
    finishedAtNs: readTime(event),
    url: url(content, 'url') ?? url(content, 'uri'),
    yamlErrors: text(content, 'errors'),
    project: readServer(event),
    jobs: [],
    jobsUnknown: true,
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Reads a `taskrun.finished` event as a job of its pipeline run. */
export function readTaskRun(event: Fields, receivedAtNs: bigint | undefined): JobEvent {
  const { subject, content } = subjectParts(event)
  const job = {
    ...absentJobFields,
    id: requiredRunId(subject, 'id'),
    bridge: false,
    ...readOutcome(content),
    name: text(content, 'taskName'),
    finishedAtNs: readTime(event),
    url: url(content, 'url') ?? url(content, 'uri'),
    allowFailure: false,
    effective: true,
  }
  return toJobEvent(job, {
    forge: 'cdevents',
    pipelineId: requiredRunId(requiredSection(content, 'pipelineRun'), 'id'),
    project: readServer(event),
    receivedAtNs,
  })
}

function subjectParts(event: Fields): { subject: Fields; content: Fields } {
  const subject = requiredSection(requiredSection(event, 'data'), 'subject')
  return { subject, content: requiredSection(subject, 'content') }
}

function readOutcome(content: Fields): Outcome {
  const word = requiredText(content, 'outcome')
  return { status: findEntry(outcomes, word) ?? word, failureReason: word === 'error' ? ERROR_REASON : undefined }
}

/** Reads the time of an event, which is the end that it is about. */
function readTime(event: Fields): bigint | undefined {
  const data = section(event, 'data')
  const context = data && section(data, 'context')
  return (context && date(context, 'timestamp')) ?? date(event, 'time')
}

/** Reads the producer of an event: the ids of runs are unique there. Its source, which CloudEvents require, is a URL or the path of one. */
function readServer(event: Fields): ProjectRecord {
  const source = requiredText(event, 'source')
  const server = URL.canParse(source) ? new URL(source).host || source : source
  return { id: undefined, name: undefined, webUrl: undefined, path: undefined, server }
}
