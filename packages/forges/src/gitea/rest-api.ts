import { findActionsRun, PROJECT_FORM, readActionsRun, repositoryPath, toActionsRuns } from '../actions/rest-runs.ts'
import { apiAddress } from '../api/address.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import { listNumbered } from '../api/run-lists.ts'

/** The maximum number of items of a page. */
export const MAX_PAGE = 50

/** The parts that the APIs of Gitea and Forgejo share. Neither limits the rate; a proxy may. */
export const giteaApi = {
  apiUrl: apiAddress('/api/v1'),
  credentials: (token: string) => ({ authorization: `token ${token}` }),
  rateLimit: { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  tokenNeeds: 'the scope read:repository and access to the repository',
  projectForm: PROJECT_FORM,
} as const

export const api: ForgeApi = {
  ...giteaApi,
  listRuns: (ask, { project, sinceNs, perPage }) =>
    listNumbered(ask, {
      path: `${repositoryPath(project)}/actions/runs`,
      query: { limit: Math.min(perPage, MAX_PAGE) },
      members: ['workflow_runs'],
      toRuns: (run) => toActionsRuns(project, run),
      sinceNs,
    }),
  readRun: (ask, reference) => readActionsRun(ask, reference, { limit: MAX_PAGE }),
  findRun: findActionsRun,
}
