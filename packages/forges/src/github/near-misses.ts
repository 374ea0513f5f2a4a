import { bundle } from '../actions/bodies.ts'
import { isObject, type JsonObject } from '../body/fields.ts'
import { isInteger } from '../body/shape.ts'
import { actionsPart } from '../forge/foreign-bodies.ts'
import type { NearMiss } from '../forge/forge.ts'

const numeral = (id: unknown): string => (isInteger(id) ? String(id) : 'without a usable id')

const jobsAddress = 'the answer of …/actions/runs/ID/attempts/N/jobs'

/** Answers of REST that users mistake for records. Gitea has the same ones. */
export const nearMisses: readonly NearMiss[] = [
  {
    name: 'GitHub run',
    matches: (values) => actionsPart(values) === 'run',
    advice: ({ id }) =>
      `is a run of GitHub Actions (${numeral(id)}) without its jobs: give ${bundle}, with ${jobsAddress} as jobs`,
  },
  {
    name: 'GitHub job',
    matches: (values) => actionsPart(values) === 'job',
    advice: ({ id, run_id }) =>
      `is a job of GitHub Actions (${numeral(id)}) without its run: give ${bundle}, with the run ${numeral(run_id)} as run`,
  },
  {
    name: 'GitHub run without jobs',
    matches: ({ run, ...others }) => isObject(run) && actionsPart(run) === 'run' && !('jobs' in others),
    advice: () => `is a run of GitHub Actions without its jobs: add ${jobsAddress} as jobs`,
  },
  {
    name: 'GitHub list',
    matches: (values) => actionsPart(values) === 'list',
    advice: (values) => `is a list of GitHub's API: give ${bundle}${listHint(values)}`,
  },
  {
    name: 'GitHub check',
    matches: (values) => actionsPart(values) === 'check',
    advice: () => `is a check of GitHub, not a run: give the hooks workflow_run and workflow_job, or ${bundle}`,
  },
]

const listHint = ({ jobs, workflow_jobs, workflow_runs }: JsonObject): string => {
  if (Array.isArray(jobs) || Array.isArray(workflow_jobs)) return ', with this list as jobs and their run as run'
  return Array.isArray(workflow_runs) ? ' for each of the runs' : ''
}
