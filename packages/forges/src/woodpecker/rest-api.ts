import { apiAddress, bearer } from '../api/address.ts'
import { apiPath, askObject, limitBytes, MAX_RUN_JOBS, memberText, projectNames, requirePage } from '../api/answers.ts'
import type { ApiMemory, Ask, ForgeApi } from '../api/rest-api.ts'
import { isoTime, listNumbered, unixTimeNs } from '../api/run-lists.ts'
import { RecordError } from '../record/record-error.ts'

const PROJECT_FORM = 'owner/name'
const MAX_PAGE = 50

/** Returns the path of a project's pipelines. The API finds a repository by its id only, so its name is looked up once. */
async function pipelinesPath(ask: Ask, project: string, memory: ApiMemory = new Map()): Promise<string> {
  const known = /^\d+$/.test(project) ? project : memory.get(project)
  if (known !== undefined) return `/repos${apiPath(known)}/pipelines`
  const path = `/repos/lookup${apiPath(...projectNames(project, PROJECT_FORM))}`
  const id = requirePage(path, memberText(await askObject(ask, path), 'id'))
  memory.set(project, id)
  return `/repos${apiPath(id)}/pipelines`
}

export const api: ForgeApi = {
  apiUrl: apiAddress('/api'),
  credentials: bearer,
  rateLimit: { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
  tokenNeeds: 'to be the personal token of a user who may read the repository',
  isUnnamed: true,
  projectForm: PROJECT_FORM,
  listRuns: async function* (ask, { project, sinceNs, untilNs, perPage }) {
    yield* listNumbered(ask, {
      path: await pipelinesPath(ask, project),
      // Versions that do not know the times list all pipelines.
      query: {
        perPage: Math.min(perPage, MAX_PAGE),
        after: sinceNs === undefined ? undefined : isoTime(sinceNs),
        before: isoTime(untilNs),
      },
      toRuns: (pipeline) => [
        {
          reference: { project, run: memberText(pipeline, 'number') ?? '' },
          createdAtNs: unixTimeNs(pipeline.created, 1),
          bundle: { ...pipeline, workflows: [] },
        },
      ],
      sinceNs,
    })
  },
  readRun: async (caller, { project, run }, memory) => {
    const ask = limitBytes(caller)
    const path = `${await pipelinesPath(ask, project, memory)}${apiPath(run)}`
    const pipeline = await askObject(ask, path)
    if (pipeline === undefined) return { kind: 'gone' }
    // If the configuration could not be read, there are no workflows.
    const workflows: unknown = pipeline.workflows ?? []
    if (!Array.isArray(workflows) || workflows.length > MAX_RUN_JOBS) {
      throw new RecordError('', `${path}: workflows must be a list of at most ${MAX_RUN_JOBS}`)
    }
    return { kind: 'bundle', bundle: { ...pipeline, workflows } }
  },
}
