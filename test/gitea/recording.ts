import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EndToEnd } from './end-to-end.harness.ts'
import { PUBLIC_URL } from './gitea-server.ts'
import { perConnection, type RelayedHook } from './hook-relay.ts'
import { jobVariables } from './play.ts'
import type { HookKind } from './pottery.ts'

/** The recorded cases: hooks about a run, in order of arrival, and answers of REST about an attempt. */
export const recordedHooks: readonly { readonly name: string; readonly run: number; readonly kind: HookKind }[] = [
  { name: 'gitea-1-26-failed-then-rerun', run: 1, kind: 'repository' },
  { name: 'gitea-1-26-matrix-needs-and-skipped-job', run: 2, kind: 'repository' },
  { name: 'gitea-1-26-tag-and-workflow-without-name', run: 3, kind: 'repository' },
  { name: 'gitea-1-26-organisation-webhook', run: 3, kind: 'organisation' },
  { name: 'gitea-1-26-system-webhook', run: 3, kind: 'system' },
  { name: 'gitea-1-26-pull-request', run: 4, kind: 'repository' },
]

/** The names of the recorded bundles, in the order of the attempts. */
export const recordedBundles: readonly string[] = [
  'gitea-1-26-failed-rest',
  'gitea-1-26-matrix-rest',
  'gitea-1-26-rerun-rest',
  'gitea-1-26-tag-rest',
  'gitea-1-26-pull-request-rest',
]

/** The variables of jobs and their ids. */
export const RECORDED_JOBS = 'webhooks/gitea-1-26-jobs.json'

/**
 * Writes hooks and answers as fixtures. The bodies are written as they were sent, so that their signatures hold; only the headers that
 * belong to the connection are left out.
 */
export function writeRecording(fixtures: string, { hooks, attempts, contexts }: EndToEnd): void {
  const write = (file: string, value: unknown) =>
    writeFileSync(join(fixtures, file), `${JSON.stringify(value, undefined, 2)}\n`)
  for (const { name, run, kind } of recordedHooks) {
    const own = hooks.filter((hook) => hook.source === kind && runOf(hook) === run)
    write(`pipelines/${name}.json`, own.map(withoutConnection))
  }
  for (const [index, { bundle }] of attempts.entries()) write(`pipelines/${recordedBundles[index]}.json`, bundle)
  const jobs = contexts.map(({ task, jobId }) => ({ job_id: jobId, variables: jobVariables(task, PUBLIC_URL) }))
  write(RECORDED_JOBS, jobs)
}

function runOf({ body }: RelayedHook): number {
  const { workflow_run, workflow_job } = JSON.parse(body)
  return workflow_run?.id ?? workflow_job.run_id
}

const withoutConnection = ({ headers, body }: RelayedHook) => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !perConnection.has(name))),
  body,
})
