import { repositoryPath } from '../actions/rest-runs.ts'
import { urlBefore } from '../api/address.ts'
import { apiPath, askList, askObject, limitBytes, memberText, missingPart } from '../api/answers.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import { listNumbered } from '../api/run-lists.ts'
import { parseDate } from '../body/date.ts'
import { giteaApi, MAX_PAGE } from '../gitea/rest-api.ts'

/** The API of runs and their jobs. Jobs are listed since version 16, all on one page. */
export const api: ForgeApi = {
  ...giteaApi,
  listRuns: (ask, { project, sinceNs, perPage }) =>
    listNumbered(ask, {
      path: `${repositoryPath(project)}/actions/runs`,
      query: { limit: Math.min(perPage, MAX_PAGE) },
      members: ['workflow_runs'],
      toRuns: (run) => [
        {
          reference: { project, run: memberText(run, 'id') ?? '' },
          createdAtNs: parseDate(run.created),
          bundle: { run, jobs: [] },
        },
      ],
      sinceNs,
    }),
  readRun: async (caller, { project, run: id }) => {
    const ask = limitBytes(caller)
    const path = `${repositoryPath(project)}/actions/runs${apiPath(id)}`
    const run = await askObject(ask, path)
    if (run === undefined) return { kind: 'gone' }
    const jobs = await askList(ask, { path: `${path}/jobs`, query: {}, members: ['jobs', 'workflow_jobs'] })
    if (jobs !== undefined) return { kind: 'bundle', bundle: { run, jobs } }
    if ((await askObject(ask, path)) === undefined) return { kind: 'gone' }
    throw missingPart(`${path}/jobs`)
  },
  findRun: (hook) => {
    const project = memberText(hook, 'run', 'repository', 'full_name')
    const run = memberText(hook, 'run', 'id')
    if (project === undefined || run === undefined) return undefined
    return {
      reference: { project, run },
      serverUrl: urlBefore(memberText(hook, 'run', 'repository', 'html_url'), project),
    }
  },
}
