import { findActionsRun, PROJECT_FORM, readActionsRun, repositoryPath, toActionsRuns } from '../actions/rest-runs.ts'
import { apiAddress } from '../api/address.ts'
import { apiPath, askObject, memberText } from '../api/answers.ts'
import type { ApiMemory, Ask, ForgeApi, RunReference } from '../api/rest-api.ts'
import { listNumbered } from '../api/run-lists.ts'
import type { JsonObject } from '../body/fields.ts'

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
  readRun: async (ask, reference, memory = new Map()) => {
    const answer = await readActionsRun(ask, reference, { limit: MAX_PAGE })
    if (answer.kind === 'gone') return answer
    const workflow = await readWorkflow(ask, reference, memberText(answer.bundle.run, 'path'), memory)
    return workflow === undefined ? answer : { ...answer, bundle: { ...answer.bundle, workflow } }
  },
  findRun: findActionsRun,
}

/** The maximum number of workflows that are remembered. */
const MAX_WORKFLOWS = 1_000

/**
 * Reads the workflow of a run, which has the name that hooks contain: runs have only the path of its file. A workflow that the default
 * branch lacks cannot be read.
 */
async function readWorkflow(
  ask: Ask,
  { project }: RunReference,
  path: string | undefined,
  memory: ApiMemory,
): Promise<JsonObject | undefined> {
  const file = path?.replace(/@refs\/.*$/s, '')
  if (file === undefined || /^\.{0,2}$|\//.test(file)) return undefined
  const address = `${repositoryPath(project)}/actions/workflows${apiPath(file)}`
  const name = memory.get(address) ?? memberText(await askObject(ask, address), 'name')
  if (name === undefined) return undefined
  if (memory.size < MAX_WORKFLOWS) memory.set(address, name)
  return { name }
}
