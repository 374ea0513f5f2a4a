import { findEntry } from '../record/find-entry.ts'
import type { KnownStatus } from '../record/status.ts'

/** The words of Jenkins: results of builds, and statuses of the stage view. An unstable build has failed tests. */
export const jenkinsStatuses: Readonly<Record<string, KnownStatus>> = {
  SUCCESS: 'success',
  UNSTABLE: 'failed',
  FAILURE: 'failed',
  FAILED: 'failed',
  ABORTED: 'canceled',
  NOT_BUILT: 'skipped',
  NOT_EXECUTED: 'skipped',
  QUEUED: 'pending',
  IN_PROGRESS: 'running',
  PAUSED_PENDING_INPUT: 'manual',
}

export const jenkinsStatus = (word: string): string => findEntry(jenkinsStatuses, word) ?? word.toLowerCase()

export const jenkinsFailureReason = (word: string): string | undefined => (word === 'UNSTABLE' ? 'unstable' : undefined)

/** The sources of builds by the class of their cause. */
export const sourceByCause: Readonly<Record<string, string>> = {
  'hudson.model.Cause$UserIdCause': 'user',
  'hudson.model.Cause$RemoteCause': 'api',
  'hudson.model.Cause$UpstreamCause': 'upstream',
  'hudson.triggers.TimerTrigger$TimerTriggerCause': 'schedule',
  'hudson.triggers.SCMTrigger$SCMTriggerCause': 'push',
  'jenkins.branch.BranchEventCause': 'push',
  'jenkins.branch.BranchIndexingCause': 'branch_indexing',
  'com.cloudbees.jenkins.GitHubPushCause': 'push',
  'org.jenkinsci.plugins.workflow.cps.replay.ReplayCause': 'replay',
}
