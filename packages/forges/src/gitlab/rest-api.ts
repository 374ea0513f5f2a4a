import { apiAddress } from '../api/address.ts'
import { apiPath, askList, askObject, memberText, missingPart } from '../api/answers.ts'
import type { ApiMemory, Ask, ForgeApi } from '../api/rest-api.ts'
import { isoTime, listNumbered } from '../api/run-lists.ts'
import { parseDate } from '../body/date.ts'
import { isObject, type JsonObject } from '../body/fields.ts'

/** The maximum number of jobs of a pipeline. GitLab allows some thousands, and lists all their attempts. */
const MAX_JOBS = 100_000

const projectPath = (project: string): string => `/projects${apiPath(project)}`

/** The lists that contain the bridges of a pipeline, newest name first. */
const bridgeParts = ['trigger_jobs', 'bridges'] as const
/** The key of the memory: the name of the list that the server has, or `NO_BRIDGES`. */
const BRIDGES = 'bridges'
const NO_BRIDGES = 'none'

export const api: ForgeApi = {
  apiUrl: apiAddress('/api/v4'),
  credentials: (token) => ({ 'private-token': token }),
  rateLimit: { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
  tokenNeeds: 'the scope read_api and access to the project',
  projectForm: 'id or path',
  listRuns: (ask, { project, sinceNs, perPage, status }) =>
    listNumbered(ask, {
      path: `${projectPath(project)}/pipelines`,
      // A pipeline created since then was also updated since then. The list begins with the oldest one.
      query: {
        order_by: 'id',
        sort: 'asc',
        per_page: perPage,
        updated_after: sinceNs === undefined ? undefined : isoTime(sinceNs),
        status,
      },
      toRuns: (pipeline) => [
        {
          reference: { project, run: memberText(pipeline, 'id') ?? '' },
          createdAtNs: parseDate(pipeline.created_at),
          bundle: { pipeline, jobs: [] },
        },
      ],
    }),
  readRun: async (ask, { project, run }, memory = new Map()) => {
    const path = `${projectPath(project)}/pipelines${apiPath(run)}`
    const [pipeline, jobs, bridges] = await Promise.all([
      askObject(ask, path),
      askList(ask, { path: `${path}/jobs`, query: { include_retried: 'true', per_page: 100 } }, MAX_JOBS),
      readBridges(ask, path, memory),
    ])
    // A pipeline that was deleted after it was listed. A missing list alone does not mean that.
    const isWhole = jobs !== undefined && bridges !== undefined
    if (pipeline === undefined || (!isWhole && (await askObject(ask, path)) === undefined)) return { kind: 'gone' }
    if (jobs === undefined) throw missingPart(`${path}/jobs`, 'pipeline')
    if (bridges === undefined) recordNoBridges(path, memory)
    const listed = memory.get(BRIDGES) === NO_BRIDGES ? undefined : bridges
    const commit = commitOf(pipeline, [...jobs, ...(listed ?? [])])
    return { kind: 'bundle', bundle: { pipeline, jobs, ...(listed && { bridges: listed }), commit } }
  },
  findRun: (hook) => {
    const project = memberText(hook, 'project', 'id') ?? memberText(hook, 'project_id')
    const run = memberText(hook, 'object_attributes', 'id') ?? memberText(hook, 'pipeline_id')
    if (project === undefined || run === undefined) return undefined
    const url = memberText(hook, 'project', 'web_url')
    return {
      reference: { project, run },
      serverUrl: url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined,
    }
  },
}

/**
 * Reads the bridges. The name of the list depends on the server's version, so the first pipeline shows which one exists.
 *
 * @returns an empty list if the server has no such list, `undefined` for a 404
 */
async function readBridges(ask: Ask, path: string, memory: ApiMemory): Promise<readonly JsonObject[] | undefined> {
  const known = memory.get(BRIDGES)
  if (known === NO_BRIDGES) return []
  for (const part of known === undefined ? bridgeParts : [known]) {
    const bridges = await askList(ask, { path: `${path}/${part}`, query: { per_page: 100 } }, MAX_JOBS)
    if (bridges === undefined) continue
    memory.set(BRIDGES, part)
    return bridges
  }
  return undefined
}

/** Records that an existing pipeline has no list of bridges. @throws {RecordError} if another pipeline had one */
function recordNoBridges(path: string, memory: ApiMemory): void {
  const known = memory.get(BRIDGES)
  if (known !== undefined && known !== NO_BRIDGES) throw missingPart(`the bridges of ${path}`, 'pipeline')
  memory.set(BRIDGES, NO_BRIDGES)
}

/** Returns the commit, which REST contains only in jobs and bridges. */
const commitOf = ({ sha }: JsonObject, items: readonly JsonObject[]): JsonObject | undefined =>
  items.map(({ commit }) => commit).find((commit) => isObject(commit) && commit.id === sha) as JsonObject | undefined
