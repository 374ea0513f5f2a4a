import { decodeRequest, type Signal } from '@penstock/otlp'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'

export interface ForgePipeline {
  readonly id: number | bigint
  readonly status?: string
  readonly created_at?: string
  /** The ids of pipelines that its bridge has started. They are in no list. */
  readonly starts?: readonly { readonly id: number; readonly project_id?: number }[]
  /** Set if the pipeline is in no list. */
  readonly hidden?: boolean
  readonly jobs?: number
}

/** The reply that replaces the answer; `undefined` for the normal answer. */
type Trouble = (request: RecordedRequest, index: number) => ScriptedReply | undefined

/** The pagination headers of the answers. */
interface Pagination {
  readonly totals?: boolean
  readonly pages?: 'x-next-page' | 'link' | 'nothing'
}

/** The lists of bridges that the forge serves: old versions have only the second, or none. */
export type BridgePart = 'trigger_jobs' | 'bridges'

export const forgeToken = 'glpat-canary-7'

/** A server with the part of GitLab's REST API that a backfill reads, for project 17, ops/tools. Tests may change its pipelines. */
export class ScriptedForge {
  pipelines: readonly ForgePipeline[]
  trouble: Trouble = () => undefined
  bridgeParts: readonly BridgePart[] = ['trigger_jobs', 'bridges']
  server!: ScriptedServer
  readonly #pagination: Required<Pagination>

  static async start(pipelines: readonly ForgePipeline[], pagination: Pagination = {}): Promise<ScriptedForge> {
    const forge = new ScriptedForge(pipelines, { totals: true, pages: 'x-next-page', ...pagination })
    forge.server = await ScriptedServer.start(
      (request, index) => forge.trouble(request, index) ?? forge.#reply(request),
    )
    onTestFinished(() => forge.server.close())
    return forge
  }

  private constructor(pipelines: readonly ForgePipeline[], pagination: Required<Pagination>) {
    this.pipelines = pipelines
    this.#pagination = pagination
  }

  /** The paths of the requests, without `/api/v4`. */
  get paths(): string[] {
    return this.server.requests.map(({ path }) => path.replace('/api/v4', ''))
  }

  #reply({ path, headers }: RecordedRequest): ScriptedReply {
    if (headers['private-token'] !== forgeToken)
      return json({ message: `no user has ${headers['private-token']}` }, 401)
    const url = new URL(path, this.server.url)
    const [, project, id, part] =
      /^\/api\/v4\/projects\/([^/]+)(?:\/pipelines(?:\/(\d+)(?:\/(jobs|bridges|trigger_jobs))?)?)?$/.exec(
        url.pathname,
      ) ?? []
    if (project !== '17' && project !== 'ops%2Ftools') return json({ message: '404 Project Not Found' }, 404)
    if (!url.pathname.includes('/pipelines')) return json(projectJson)
    if (id === undefined) return this.#list(url.searchParams)
    const pipeline = this.pipelines.find((each) => String(each.id) === id)
    if (pipeline === undefined) return json({ message: '404 Not found' }, 404)
    if (part === undefined) return json(pipelineJson(pipeline))
    if (part === 'jobs') return this.#page(jobsOf(pipeline), url.searchParams)
    if (!this.bridgeParts.includes(part as BridgePart)) return json({ error: '404 Not Found' }, 404)
    return this.#page(bridgesOf(pipeline), url.searchParams)
  }

  #list(query: URLSearchParams): ScriptedReply {
    const listed = this.pipelines
      .filter(({ hidden, status = 'success' }) => !hidden && [null, status].includes(query.get('status')))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, status = 'success', created_at = begin }) => ({ id, status, created_at, project_id: 17 }))
    return this.#page(query.get('sort') === 'asc' ? listed : listed.reverse(), query)
  }

  #page(items: readonly object[], query: URLSearchParams): ScriptedReply {
    const perPage = Number(query.get('per_page'))
    const page = Number(query.get('page'))
    const next = page * perPage < items.length ? String(page + 1) : ''
    const { totals, pages } = this.#pagination
    return json(items.slice((page - 1) * perPage, page * perPage), 200, {
      ...(totals && { 'x-total': String(items.length) }),
      ...(pages === 'x-next-page' && { 'x-next-page': next }),
      ...(pages === 'link' && { link: next === '' ? '<x?page=1>; rel="first"' : `<x?page=${next}>; rel="next"` }),
    })
  }
}

const begin = '2026-02-11T09:20:14.000Z'

const projectJson = {
  id: 17,
  name: 'tools',
  path_with_namespace: 'ops/tools',
  web_url: 'https://ci.example.com/ops/tools',
  runners_token: 'canary-runners-token',
}

const pipelineJson = ({ id, status = 'success', created_at = begin }: ForgePipeline) => ({
  id,
  status,
  ref: 'main',
  sha: 'a'.repeat(40),
  source: 'push',
  created_at,
  started_at: created_at,
  finished_at: status === 'running' ? null : '2026-02-11T09:30:14.000Z',
  duration: 600,
  web_url: `https://ci.example.com/ops/tools/-/pipelines/${id}`,
})

const jobJson = (id: number, name: string) => ({
  id,
  name,
  stage: 'build',
  status: 'success',
  created_at: begin,
  started_at: begin,
  finished_at: '2026-02-11T09:30:14.000Z',
  duration: 600,
})

const jobsOf = ({ id, jobs = 1 }: ForgePipeline) =>
  Array.from({ length: jobs }, (_, at) => jobJson(Number(id) * 1_000 + jobs - at, `job ${jobs - at}`))

const bridgesOf = ({ id, starts = [] }: ForgePipeline) =>
  starts.map((started, at) => ({
    ...jobJson(Number(id) * 1_000 + 900 + at, `bridge ${at}`),
    downstream_pipeline: { project_id: 17, status: 'success', ...started },
  }))

/** Returns a JSON reply. Ids above 2^53 have all their digits. */
function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): ScriptedReply {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `bigint ${each}` : each))
  const body = text.replaceAll(/"bigint (\d+)"/g, '$1')
  return { play: 'reply', status, headers: { 'content-type': 'application/json', ...headers }, body }
}

/** Returns the ids of the pipelines with spans in a request. */
export function pipelinesIn({ path, body }: RecordedRequest): string[] {
  const signal = path.split('/').at(-1) as Signal
  if (signal !== 'traces') return []
  const spans = decodeRequest('traces', body, 'protobuf').resources.flatMap(({ scopes }) =>
    scopes.flatMap(({ items }) => items),
  )
  return spans.flatMap(({ attributes }) =>
    attributes.flatMap(({ key, value }) => (key === 'cicd.pipeline.run.id' ? [String(value)] : [])),
  )
}
