import { apiAddress } from '../api/address.ts'
import {
  apiPath,
  askObject,
  limitBytes,
  listItems,
  MAX_RUN_JOBS,
  memberText,
  missingPart,
  projectNames,
  requirePage,
} from '../api/answers.ts'
import { listByCursor } from '../api/listing.ts'
import type { Ask, ForgeApi, ListedRun } from '../api/rest-api.ts'
import { isOlder, MAX_RUNS } from '../api/run-lists.ts'
import { parseDate } from '../body/date.ts'
import type { JsonObject } from '../body/fields.ts'

const PROJECT_FORM = 'vcs/owner/name'
const CLOUD = 'https://circleci.com/api/v2'

export const api: ForgeApi = {
  apiUrl: apiAddress('/api/v2', { 'circleci.com': CLOUD, 'app.circleci.com': CLOUD }),
  credentials: (token) => ({ 'circle-token': token }),
  rateLimit: { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  tokenNeeds: 'to be a personal API token of a user who may read the project',
  projectForm: PROJECT_FORM,
  listRuns: async function* (ask, { project, sinceNs }) {
    const path = `/project${apiPath(...projectNames(project, PROJECT_FORM))}/pipeline`
    for await (const page of pagesByToken(ask, path, MAX_RUNS)) {
      const runs: ListedRun[] = []
      for (const pipeline of page.items) runs.push(...(await listWorkflows(ask, project, pipeline.value)))
      yield { runs, total: undefined, bytes: page.bytes }
      // Workflows that run again are newer than their pipeline.
      const times = page.items.map(({ value }) => ({ createdAtNs: parseDate(value.created_at) }))
      if (sinceNs !== undefined && times.length > 0 && times.every((time) => isOlder(time, sinceNs))) return
    }
  },
  readRun: async (caller, { run: id }) => {
    const ask = limitBytes(caller)
    const path = `/workflow${apiPath(id)}`
    const workflow = await askObject(ask, path)
    const pipelineId = memberText(workflow, 'pipeline_id')
    if (workflow === undefined || pipelineId === undefined) return { kind: 'gone' }
    const pipeline = await askObject(ask, `/pipeline${apiPath(pipelineId)}`)
    if (pipeline === undefined) throw missingPart(`/pipeline/${pipelineId}`)
    const jobs: JsonObject[] = []
    for await (const page of pagesByToken(ask, `${path}/job`, MAX_RUN_JOBS))
      jobs.push(...page.items.map(({ value }) => value))
    return { kind: 'bundle', bundle: { pipeline, workflow, jobs } }
  },
  findRun: (hook) => {
    const run = memberText(hook, 'workflow', 'id')
    const project = memberText(hook, 'project', 'slug')
    if (run === undefined || project === undefined) return undefined
    const url = memberText(hook, 'workflow', 'url')
    return {
      reference: { project, run },
      serverUrl: url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined,
    }
  },
}

async function listWorkflows(ask: Ask, project: string, pipeline: JsonObject): Promise<readonly ListedRun[]> {
  const path = `/pipeline${apiPath(memberText(pipeline, 'id') ?? '')}/workflow`
  const runs: ListedRun[] = []
  for await (const { items } of pagesByToken(ask, path, MAX_RUN_JOBS)) {
    for (const { id, value: workflow } of items) {
      const createdAtNs = parseDate(workflow.created_at)
      runs.push({ reference: { project, run: id }, createdAtNs, bundle: { pipeline, workflow, jobs: [] } })
    }
  }
  return runs
}

/** Yields the pages of a list. Jobs that wait for an approval have an id, too. */
function pagesByToken(ask: Ask, path: string, maxItems: number) {
  const fetch = async (cursor: string | undefined) => {
    const answer = requirePage(path, await ask({ path, query: { 'page-token': cursor } }))
    const next = memberText(answer.body, 'next_page_token')
    return { items: listItems(path, answer, { members: ['items'] }), next, bytes: answer.bytes }
  }
  return listByCursor({ path, fetch, maxItems })
}
