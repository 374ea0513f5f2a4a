import { apiAddress, basic } from '../api/address.ts'
import { apiPath, askObject, limitBytes, listItems, MAX_RUN_JOBS, memberText, requirePage } from '../api/answers.ts'
import { listChanging } from '../api/listing.ts'
import type { Ask, ForgeApi, ListedRun, RunPage, RunQuery } from '../api/rest-api.ts'
import { isOlder, MAX_RUNS, unixTimeNs } from '../api/run-lists.ts'
import { isObject, type JsonObject } from '../body/fields.ts'
import { RecordError } from '../record/record-error.ts'
import { readBuildPlace } from './job-name.ts'

/** The members of a build that tell whether it has ended. */
const BUILD_MEMBERS = 'number,url,fullDisplayName,building,result,timestamp,duration'
/** The depth of folders below a folder that are searched for jobs. */
const MAX_DEPTH = 5
const MAX_JOBS = 10_000
/** The number of stages with steps that are read. Each takes a request. */
const MAX_STAGES_WITH_STEPS = 200

/** Returns the path of a job in folders. The names of branches are encoded within their names. */
const jobPath = (project: string): string =>
  project
    .split('/')
    .map((name) => `/job${apiPath(name)}`)
    .join('')

export const api: ForgeApi = {
  apiUrl: apiAddress(''),
  credentials: basic,
  rateLimit: { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
  tokenNeeds: 'to be user:token, with the permissions Overall/Read and Job/Read',
  projectForm: 'folder/job',
  listRuns: async function* (ask, query) {
    for await (const project of findJobs(ask, query.project)) yield* listBuilds(ask, { ...query, project })
  },
  readRun: async (caller, { project, run }) => {
    const ask = limitBytes(caller)
    const path = `${jobPath(project)}${apiPath(run)}`
    const build = await askObject(ask, `${path}/api/json`)
    if (build === undefined) return { kind: 'gone' }
    // Builds of freestyle jobs, and servers without the stage view, have no stages.
    const view = await askObject(ask, `${path}/wfapi/describe`)
    return { kind: 'bundle', bundle: { build, stages: view === undefined ? null : await withSteps(ask, path, view) } }
  },
  findRun: (hook) => {
    if (memberText(hook, 'build', 'phase') !== 'FINALIZED') return undefined
    const url = memberText(hook, 'build', 'full_url')
    const run = memberText(hook, 'build', 'number')
    const place = readBuildPlace(url)
    if (url === undefined || run === undefined || place === undefined) return undefined
    return { reference: { project: place.names.join('/'), run }, serverUrl: url.slice(0, url.indexOf('/job/')) }
  },
}

/** Yields a job, or the jobs in a folder, such as the branches of a multibranch project. */
async function* findJobs(ask: Ask, project: string): AsyncGenerator<string> {
  const open = [{ name: project, depth: 0 }]
  for (let count = 0; open.length > 0; count++) {
    if (count + open.length > MAX_JOBS)
      throw new RecordError('', `${project}: the folder has more than ${MAX_JOBS} jobs`)
    const { name, depth } = open.shift()!
    const path = `${jobPath(name)}/api/json`
    const job = requirePage(path, await askObject(ask, path, { tree: 'jobs[name]' }))
    if (!Array.isArray(job.jobs)) yield name
    else if (depth < MAX_DEPTH) {
      for (const child of job.jobs) {
        const childName = memberText(child, 'name')
        if (childName !== undefined) open.push({ name: `${name}/${childName}`, depth: depth + 1 })
      }
    }
  }
}

/** Yields the builds of a job, newest first. A page is a range of the list. */
async function* listBuilds(ask: Ask, { project, sinceNs, perPage }: RunQuery): AsyncGenerator<RunPage> {
  const path = `${jobPath(project)}/api/json`
  const fetch = async (number: number) => {
    const tree = `allBuilds[${BUILD_MEMBERS}]{${(number - 1) * perPage},${number * perPage}}`
    const answer = requirePage(path, await ask({ path, query: { tree } }))
    const items = listItems(path, answer, { members: ['allBuilds'], idMember: 'number' })
    return { items, total: undefined, isLast: items.length < perPage, bytes: answer.bytes }
  }
  for await (const page of listChanging({ path, fetch, maxItems: MAX_RUNS })) {
    const runs: ListedRun[] = page.items.map(({ id, value: build }) => ({
      reference: { project, run: id },
      createdAtNs: unixTimeNs(build.timestamp, 1_000),
      bundle: { build, stages: null },
    }))
    yield { runs, total: undefined, bytes: page.bytes }
    if (sinceNs !== undefined && runs.length > 0 && runs.every((run) => isOlder(run, sinceNs))) return
  }
}

/** Returns the stage view with the steps of its stages, which each stage has in an answer of its own. */
async function withSteps(ask: Ask, path: string, view: JsonObject): Promise<JsonObject> {
  const { stages } = view
  if (!Array.isArray(stages)) return view
  if (stages.length > MAX_RUN_JOBS) throw new RecordError('', `${path}: the build has more than ${MAX_RUN_JOBS} stages`)
  const complete: unknown[] = []
  for (const [index, stage] of stages.entries()) {
    const id = memberText(stage, 'id')
    const isAsked = id !== undefined && index < MAX_STAGES_WITH_STEPS && isObject(stage) && !('stageFlowNodes' in stage)
    const node = isAsked ? await askObject(ask, `${path}/execution/node${apiPath(id)}/wfapi/describe`) : undefined
    complete.push(
      node?.stageFlowNodes === undefined ? stage : { ...(stage as JsonObject), stageFlowNodes: node.stageFlowNodes },
    )
  }
  return { ...view, stages: complete }
}
