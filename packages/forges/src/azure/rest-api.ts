import { apiAddress, basic } from '../api/address.ts'
import { apiPath, askObject, limitBytes, listItems, MAX_RUN_JOBS, memberText, requirePage } from '../api/answers.ts'
import { listByCursor } from '../api/listing.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import { isoTime, MAX_RUNS } from '../api/run-lists.ts'
import { parseDate } from '../body/date.ts'
import { decodedSegment } from '../body/url.ts'
import { RecordError } from '../record/record-error.ts'

/** The version that Azure DevOps Server 2020 and all later ones have. */
const VERSION = { 'api-version': '6.0' }

const buildsPath = (project: string): string => `${apiPath(...project.split('/'))}/_apis/build/builds`

export const api: ForgeApi = {
  // The URL of an organization or a collection is the URL of its API.
  apiUrl: apiAddress(''),
  credentials: (token) => basic(token.includes(':') ? token : `:${token}`),
  rateLimit: { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  tokenNeeds: 'the scope Build (read) and access to the project',
  projectForm: 'project',
  listRuns: async function* (ask, { project, sinceNs, untilNs, perPage }) {
    const path = buildsPath(project)
    const query = {
      ...VERSION,
      queryOrder: 'queueTimeAscending',
      $top: perPage,
      minTime: sinceNs === undefined ? undefined : isoTime(sinceNs),
      maxTime: isoTime(untilNs),
    }
    const fetch = async (cursor: string | undefined) => {
      const answer = requirePage(path, await ask({ path, query: { ...query, continuationToken: cursor } }))
      const next = answer.headers['x-ms-continuationtoken']
      return { items: listItems(path, answer, { members: ['value'] }), next, bytes: answer.bytes }
    }
    for await (const { items, bytes } of listByCursor({ path, fetch, maxItems: MAX_RUNS })) {
      const runs = items.map(({ id, value: build }) => ({
        reference: { project, run: id },
        createdAtNs: parseDate(build.queueTime),
        bundle: { build, timeline: null },
      }))
      yield { runs, total: undefined, bytes }
    }
  },
  readRun: async (caller, { project, run }) => {
    const ask = limitBytes(caller)
    const path = `${buildsPath(project)}${apiPath(run)}`
    const build = await askObject(ask, path, VERSION)
    if (build === undefined) return { kind: 'gone' }
    // A build that never ran has no timeline.
    const timeline = await askObject(ask, `${path}/timeline`, VERSION)
    const records: unknown = timeline?.records
    const jobs = Array.isArray(records) ? records.filter((record) => memberText(record, 'type') === 'Job') : []
    if (jobs.length > MAX_RUN_JOBS) throw new RecordError('', `${path}: the build has more than ${MAX_RUN_JOBS} jobs`)
    return { kind: 'bundle', bundle: { build, timeline: timeline ?? null } }
  },
  findRun: (hook) => {
    const url = memberText(hook, 'resource', 'url') ?? ''
    const found = /^(https?:\/\/.+)\/([^/]+)\/_apis\/build\/builds\/(\d+)$/i.exec(url)
    if (found === null) return undefined
    const [, serverUrl, project = '', run = ''] = found
    return { reference: { project: decodedSegment(project), run }, serverUrl }
  },
}
