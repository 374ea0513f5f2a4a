import { hash } from 'node:crypto'
import { type RunId, runIdText } from '@penstock/forges/record'

/**
 * Derives trace and span ids from the identity of the run alone, so that a job, a child pipeline and a second export
 * compute the same ids without communicating.
 */
export interface IdScheme {
  readonly traceFlags: number
  traceId(instance: string, rootId: RunId): string
  /** `completedAtNs` is passed only for a later completion that gets its own span (`reexport: link`). */
  pipelineSpanId(instance: string, rootId: RunId, pipelineId: RunId, completedAtNs?: bigint): string
  /** `pipelineId` is the pipeline that the job belongs to. */
  jobSpanId(
    instance: string,
    rootId: RunId,
    pipelineId: RunId,
    job: { readonly id: RunId; readonly bridge: boolean },
  ): string
  stageSpanId(instance: string, pipelineId: RunId, stage: string): string
  /** `number` is the position of the step within its job, from 1. */
  stepSpanId(instance: string, pipelineId: RunId, jobId: RunId, number: number): string
  traceState(instance: string, rootId: RunId): string
}

const TRACE_ID_DIGITS = 32
const SPAN_ID_DIGITS = 16
const allZeros = '0'.repeat(TRACE_ID_DIGITS)

/** The flag `sampled`, and the flag `random` of W3C trace context level 2: the rightmost 7 bytes are uniformly distributed. */
const HASHED_FLAGS = 0x03
const NATIVE_FLAGS = 0x01

/**
 * Returns the first digits of the hash of `tuple`, which contains the kind, the instance and the ids, each on its own
 * line. The hash also covers two lines before it, the tag `svc-ci` and the version of the scheme, which no setting
 * changes.
 */
function hashedId(digits: number, tuple: string): string {
  const id = sha256(`svc-ci\n1\n${tuple}`).slice(0, digits)
  return allZeros.startsWith(id) ? sha256(`svc-ci\n1\n${tuple}+`).slice(0, digits) : id
}

/** Returns the id of a span that is not part of a record. The first line of `tuple` is its kind. */
export const hashedSpanId = (tuple: string): string => hashedId(SPAN_ID_DIGITS, tuple)

const sha256 = (text: string): string => hash('sha256', text, 'hex')

export const hashedIds: IdScheme = {
  traceFlags: HASHED_FLAGS,
  traceId: (instance, rootId) => hashedId(TRACE_ID_DIGITS, `trace\n${instance}\n${runIdText(rootId)}`),
  pipelineSpanId: (instance, _rootId, pipelineId, completedAtNs) =>
    hashedId(
      SPAN_ID_DIGITS,
      `pipeline\n${instance}\n${runIdText(pipelineId)}${completedAtNs === undefined ? '' : `\n${completedAtNs}`}`,
    ),
  jobSpanId: (instance, _rootId, _pipelineId, job) =>
    hashedId(SPAN_ID_DIGITS, `job\n${instance}\n${runIdText(job.id)}`),
  stageSpanId: (instance, pipelineId, stage) =>
    hashedId(SPAN_ID_DIGITS, `stage\n${instance}\n${runIdText(pipelineId)}\n${stage}`),
  stepSpanId: (instance, pipelineId, jobId, number) =>
    hashedId(SPAN_ID_DIGITS, `step\n${instance}\n${runIdText(pipelineId)}\n${runIdText(jobId)}\n${number}`),
  traceState: () => '',
}

/**
 * The ids of all forges but GitLab. They are hashed like `hashedIds`, but those of jobs contain the run: the ids of some
 * forges' jobs are unique within a run only.
 */
export const runScopedIds: IdScheme = {
  ...hashedIds,
  jobSpanId: (instance, _rootId, pipelineId, job) =>
    hashedId(SPAN_ID_DIGITS, `job\n${instance}\n${runIdText(pipelineId)}\n${runIdText(job.id)}`),
}

/**
 * Returns the id in hexadecimal, padded to `digits`. A longer id keeps its low digits, because those differ between ids. A
 * text, which no forge uses in traces of its own, is hashed.
 */
const padded = (id: RunId, digits: number): string =>
  typeof id === 'string' ? sha256(id).slice(0, digits) : id.toString(16).padStart(digits, '0').slice(-digits)
const nativeHash = (text: string): string => sha256(text).slice(0, SPAN_ID_DIGITS)

/** The ids that the forge gives to its own traces, for runners and jobs that already use its trace context. */
export const nativeIds: IdScheme = {
  traceFlags: NATIVE_FLAGS,
  traceId: (_instance, rootId) => padded(rootId, TRACE_ID_DIGITS),
  pipelineSpanId: (_instance, rootId, pipelineId, completedAtNs) =>
    nativeHash(
      `pipeline:${runIdText(rootId)}:${runIdText(pipelineId)}${completedAtNs === undefined ? '' : `:${completedAtNs}`}`,
    ),
  jobSpanId: (_instance, rootId, _pipelineId, job) =>
    job.bridge ? padded(job.id, SPAN_ID_DIGITS) : nativeHash(`${runIdText(rootId)}:${runIdText(job.id)}:export`),
  stageSpanId: (_instance, pipelineId, stage) => nativeHash(`stage:${runIdText(pipelineId)}:${stage}`),
  stepSpanId: (_instance, pipelineId, jobId, number) =>
    nativeHash(`step:${runIdText(pipelineId)}:${runIdText(jobId)}:${number}`),
  // The explicit randomness value `rv` makes consistent samplers decide as they would with hashed ids.
  traceState: (instance, rootId) => `ot=rv:${hashedIds.traceId(instance, rootId).slice(-14)}`,
}

export const idSchemes = { hashed: hashedIds, native: nativeIds } as const

/** The forge of records that do not name one. */
const GITLAB = 'gitlab'
export const isGitlab = (forge: string | undefined): boolean => forge === undefined || forge === GITLAB

/**
 * Returns the instance that contains the forge and the attempt, so that the ids of two forges on one host, and those of two
 * attempts of a run, are different. For GitLab it is the instance alone.
 */
export function forgeInstance(forge: string | undefined, instance: string, attempt: number | undefined): string {
  const named = isGitlab(forge) ? instance : `${forge} ${instance}`
  return attempt === undefined || attempt <= 1 ? named : `${named}#${attempt}`
}

/** Returns 16 hex digits that replace a user's id or name under `user: hash`. The same user always gets the same digits. */
export function pseudonym(instance: string, kind: 'id' | 'username', value: string): string {
  return hashedId(SPAN_ID_DIGITS, `user-${kind}\n${instance}\n${value}`)
}

/** Returns the host of a web URL, with the port if it is not the default one; '' if there is no valid URL. */
export function getInstance(webUrl: string | undefined): string {
  return webUrl !== undefined && URL.canParse(webUrl) ? new URL(webUrl).host : ''
}

/** The prefix of instances that represent a project. A host contains no blank, so no URL results in such an instance. */
export const projectInstancePrefix = 'project '

/**
 * Returns the text that replaces the instance for a project without any URL; '' if the project has no id and no path
 * either. It is different for each project: without a URL, they may belong to different instances, and must not share
 * ids. A path is hashed, because it may have any length.
 */
export function projectInstance({ id, path }: { readonly id?: RunId | undefined; readonly path?: string | undefined }) {
  if (id !== undefined) return `${projectInstancePrefix}${runIdText(id)}`
  return path === undefined ? '' : `${projectInstancePrefix}${sha256(path).slice(0, TRACE_ID_DIGITS)}`
}
