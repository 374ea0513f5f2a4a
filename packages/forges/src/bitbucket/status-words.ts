import { type Fields, requiredSection, requiredText, section, text } from '../body/fields.ts'
import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of Bitbucket: results of pipelines and steps, and the states and stages before the end. */
export const bitbucketStatuses: Readonly<Record<string, KnownStatus>> = {
  SUCCESSFUL: 'success',
  FAILED: 'failed',
  ERROR: 'failed',
  EXPIRED: 'failed',
  STOPPED: 'canceled',
  NOT_RUN: 'skipped',
  SKIPPED: 'skipped',
  READY: 'created',
  PENDING: 'pending',
  PARSING: 'pending',
  IN_PROGRESS: 'running',
  RUNNING: 'running',
  BUILDING: 'running',
  PAUSED: 'manual',
  HALTED: 'manual',
}

/** The reasons of failures that have a word of their own. `ERROR` means that Bitbucket failed, and not the commands of a step. */
const reasonByWord: Readonly<Record<string, string>> = { ERROR: 'infrastructure_failure', EXPIRED: 'timed_out' }

export interface BitbucketState {
  readonly status: string
  readonly failureReason: string | undefined
}

/** Reads the state of a pipeline or step: the result inside it at the end, the stage inside it while it is in progress. */
export function readState(owner: Fields): BitbucketState {
  const state = requiredSection(owner, 'state')
  const detail = section(state, 'result') ?? section(state, 'stage')
  const word = (detail && text(detail, 'name')) ?? requiredText(state, 'name')
  return {
    status: findEntry(bitbucketStatuses, word) ?? word.toLowerCase(),
    failureReason: findEntry(reasonByWord, word),
  }
}
