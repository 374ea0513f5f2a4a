import {
  attemptOfJob,
  attemptOfRun,
  type Input,
  isFinished,
  type KnownAttempt,
  type KnownAttempts,
  MAX_UNCOUNTED_ATTEMPTS,
  withUncountedAttempt,
} from '@penstock/forges'
import type { Transaction } from 'kysely'
import type { ExportHistory } from '../store/export-history-store.ts'
import type { ExporterTables } from '../store/export-tables.ts'
import { findJobEnrichments, parseJobEnrichments } from '../store/job-hook-store.ts'

/** The first attempt, which is not looked for, and all others that a run may have. */
const numbers = Array.from({ length: MAX_UNCOUNTED_ATTEMPTS }, (_, index) => index + 1)

/** Returns whether the attempt of a hook must be found: its forge counts the attempts of jobs, but not those of runs. */
export function isAttemptUnknown(input: Input): boolean {
  if (input.kind === 'job') return input.event.attemptsUncounted === true && isFinished(input.event.status)
  const { attemptsUncounted, attempt, jobsUnknown, status } = input.record
  return attemptsUncounted === true && attempt === undefined && jobsUnknown === true && isFinished(status)
}

/**
 * Returns a hook as one of an attempt of its run, found among the stored attempts.
 * @param keyOf returns the key of an attempt's row in the export history
 */
export async function withFoundAttempt(
  tx: Transaction<ExporterTables>,
  history: ExportHistory,
  input: Input,
  keyOf: (attempt: number) => string,
): Promise<Input> {
  const known = await findAttempts(tx, history, input, keyOf)
  if (input.kind === 'pipeline') {
    return { ...input, record: withUncountedAttempt(input.record, attemptOfRun(input.record, known)) }
  }
  const attempt = attemptOfJob(input.event, known)
  return { ...input, event: { ...input.event, runAttempt: attempt } }
}

async function findAttempts(
  tx: Transaction<ExporterTables>,
  history: ExportHistory,
  input: Input,
  keyOf: (attempt: number) => string,
): Promise<KnownAttempts> {
  const pipelineId = input.kind === 'job' ? input.event.pipelineId : input.record.id
  const keys = numbers.map(keyOf)
  await history.load(keys)
  const enrichments = await findJobEnrichments(tx, keys)
  const found = numbers.flatMap((number, index): [number, KnownAttempt][] => {
    const key = keys[index]!
    const stored = history.earlierExport(key)
    const text = enrichments.get(key)
    if (!history.has(key) && text === undefined) return []
    const jobs = text === undefined ? [] : parseJobEnrichments(text, pipelineId)
    return [[number, { finishedAtNs: stored?.finishedAtNs, jobs, exportedJobIds: stored?.jobIds ?? [] }]]
  })
  return new Map(found)
}
