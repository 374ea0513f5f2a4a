import { gzipSync } from 'node:zlib'
import { jsonShapes, repeated } from './json-shapes.ts'
import { largePipelineHook } from './large-pipeline.ts'
import { type ProbedService, secrets } from './probed-service.ts'

/** A request that is as expensive as its listener allows. */
export interface WorstBody {
  readonly listener: string
  readonly what: string
  readonly method: string
  readonly url: (service: ProbedService) => string
  readonly headers: Readonly<Record<string, string>>
  /** @param round counts the rounds of the measurement from 1, for what must differ each time */
  readonly body: (round: number) => string | Uint8Array
  /** The bound on a turn. Default: by the bytes received. */
  readonly boundMs?: number
  /** Statuses that show that the body has met the rule it is meant for. Default: any below 500. */
  readonly statuses?: readonly number[]
}

const MIB = 1024 * 1024
const json = { 'Content-Type': 'application/json' }
const asRoot = { 'PRIVATE-TOKEN': secrets.rootToken }
/** The id of the project that the program creates first. */
const PROJECT = 1

type Target = Pick<WorstBody, 'listener' | 'method' | 'url' | 'headers'>

const core =
  (path: string) =>
  ({ coreUrl }: ProbedService) =>
    coreUrl + path

const issue: Target = {
  listener: 'REST: an issue',
  method: 'POST',
  url: core(`/api/v4/projects/${PROJECT}/issues`),
  headers: { ...asRoot, ...json },
}
const graphql: Target = {
  listener: 'GraphQL',
  method: 'POST',
  url: core('/api/graphql'),
  headers: { Authorization: `Bearer ${secrets.rootToken}`, ...json },
}
const anonymousGraphql: Target = { ...graphql, listener: 'GraphQL, anonymous', headers: json }
const hook: Target = {
  listener: 'hook',
  method: 'POST',
  url: core(`/hooks/pipelines/${secrets.source}`),
  headers: { 'X-Gitlab-Token': secrets.sourceToken, 'X-Gitlab-Event': 'Pipeline Hook', ...json },
}
const management: Target = {
  listener: 'management',
  method: 'POST',
  url: ({ managementUrl }) => `${managementUrl}/api/v1/ingest_auth/tokens`,
  headers: { 'OBS-API-KEY': secrets.apiKey, ...json },
}
const otlp: Target = {
  listener: 'OTLP',
  method: 'POST',
  url: ({ otlpUrl }) => `${otlpUrl}/v1/traces`,
  headers: json,
}
let pipelineId = 0
const record: Target = { listener: 'record', method: 'PUT', url: core(''), headers: { ...asRoot, ...json } }
/** The base URL, to which the program appends the id of the record. */
const records = core(`/api/v4/projects/${PROJECT}/pipeline_records/`)
/** Each record describes a new pipeline. */
const recordOf = (what: string, body: (id: number) => string): WorstBody => ({
  ...record,
  what,
  url: records,
  body: () => {
    pipelineId += 1
    return body(pipelineId)
  },
})

/** Each hook is about a new pipeline. */
const hookOf = (what: string, body: (id: number) => string): WorstBody => ({
  ...hook,
  what,
  body: () => {
    pipelineId += 1
    return body(pipelineId)
  },
})

function smallJobs(id: number, jobId: (index: number) => number): string {
  const jobs = Array.from({ length: 390_000 }, (_, index) => `{"id":${jobId(index)},"status":"success"}`)
  return `{"object_attributes":{"id":${id},"status":"success"},"builds":[${jobs.join()}]}`
}

/** Returns the bodies with each shape of JSON in place of one member. */
const shapesOf = (target: Target, bytes: number, around: (value: string) => string): WorstBody[] =>
  Object.entries(jsonShapes).map(([what, make]) => ({ ...target, what, body: () => around(make(bytes)) }))

/** Returns JSON that is just within the limits. */
const withinLimits = (
  target: Target,
  { containers, elements, members }: Readonly<Record<'containers' | 'elements' | 'members', number>>,
  around: (value: string) => string,
): WorstBody[] =>
  Object.entries({
    'as many empty objects as may be': `[${'{},'.repeat(containers)}{}]`,
    'as many zeros as may be': `[${'0,'.repeat(elements)}0]`,
    'as many keys as may be': `{${Array.from({ length: members }, (_, index) => `"key${index}":0`).join()}}`,
  }).map(([what, value]) => ({ ...target, what, body: () => around(value) }))

const form = (target: Target, what: string, body: string): WorstBody => ({
  ...target,
  what,
  headers: { ...target.headers, 'Content-Type': 'application/x-www-form-urlencoded' },
  body: () => body,
})

const part = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const multipart = (target: Target, what: string, body: string, boundary = 'x'): WorstBody => ({
  ...target,
  what,
  headers: { ...target.headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  body: () => body,
})

const document = (query: string): string => JSON.stringify({ query })
/** The maximum number of characters of a document. */
const QUERY = 9_990

/** One row per request. To add a listener, add its rows. */
export const worstBodies: readonly WorstBody[] = [
  ...shapesOf(issue, 2 * MIB - 100, (value) => `{"title":"a","x":${value}}`),
  ...withinLimits(
    issue,
    { containers: 9_900, elements: 19_900, members: 19_900 },
    (value) => `{"title":"a","x":${value}}`,
  ),
  {
    ...issue,
    what: 'a description of 1 MiB',
    body: () => JSON.stringify({ title: 'a', description: 'd'.repeat(MIB) }),
  },
  {
    ...issue,
    what: 'a description of references',
    body: () => JSON.stringify({ title: 'a', description: repeated('#1 !1 @root [a](b) ', MIB) }),
  },
  form(issue, 'a form of many pairs', `title=a&${repeated('a=1&', 2 * MIB - 100)}`),
  form(issue, 'a form of 1,000 nested pairs', `title=a&${repeated(`a${'[b]'.repeat(30)}[]=1&`, 98_000)}`),
  form(issue, 'a form with a deeply nested name', `title=a&a${repeated('[b]', 2 * MIB - 100)}=1`),
  form(issue, 'a form of escapes', `title=a&b=${repeated('%41', 2 * MIB - 100)}`),
  multipart(issue, 'many parts', `${part('title', 'a')}${repeated(part('a', ''), 3 * MIB - 200)}--x--\r\n`),
  multipart(issue, 'a part of near boundaries', `${part('title', repeated('\r\n--', 2 * MIB - 300))}--x--\r\n`),
  multipart(issue, 'a part of half boundaries', part('title', repeated('a', 2 * MIB - 300)), 'a'.repeat(70)),

  ...shapesOf(anonymousGraphql, 64 * 1024 - 100, (value) => `{"query":"{__typename}","variables":{"a":${value}}}`),
  ...withinLimits(
    graphql,
    { containers: 19_900, elements: 49_900, members: 19_900 },
    (value) => `{"query":"{__typename}","variables":{"a":${value}}}`,
  ),
  ...shapesOf(graphql, 2 * MIB - 100, (value) => `{"query":"{__typename}","variables":{"a":${value}}}`),
  {
    ...anonymousGraphql,
    what: 'a document of many fields',
    body: () => document(`{${repeated('__typename ', QUERY)}}`),
  },
  {
    ...anonymousGraphql,
    what: 'a document of many aliases',
    body: () => document(`{${Array.from({ length: 500 }, (_, index) => `a${index}:__typename`).join(' ')}}`),
  },
  { ...anonymousGraphql, what: 'a document of many tokens', body: () => document(repeated('{a', QUERY)) },
  { ...anonymousGraphql, what: 'a document of nested lists', body: () => document(`{a(b:${repeated('[', QUERY)})}`) },
  {
    ...anonymousGraphql,
    what: 'a batch of 5 documents',
    body: () => JSON.stringify(Array.from({ length: 5 }, () => ({ query: `{${repeated('__typename ', QUERY)}}` }))),
  },

  ...Object.entries(jsonShapes).map(([what, make]) =>
    recordOf(what, (id) => `{"object_attributes":{"id":${id},"status":"success"},"x":${make(15 * MIB)}}`),
  ),
  recordOf('20,000 jobs', (id) => largePipelineHook(id, 20_000)),
  {
    ...record,
    what: '20,000 jobs, a little later each time',
    url: records,
    body: (round) => largePipelineHook(900_000, 20_000, round),
  },
  recordOf(
    'a million jobs',
    (id) =>
      `{"object_attributes":{"id":${id},"status":"success"},"builds":[${repeated('{"id":1},', 15 * MIB)}{"id":1}]}`,
  ),

  ...Object.entries(jsonShapes).map(([what, make]) =>
    hookOf(what, (id) => `{"object_attributes":{"id":${id},"status":"success"},"x":${make(24 * MIB)}}`),
  ),
  hookOf('20,000 jobs', (id) => largePipelineHook(id, 20_000)),
  hookOf('390,000 small jobs of one id', (id) => smallJobs(id, () => 1)),
  hookOf('390,000 small jobs', (id) => smallJobs(id, (index) => index + 1)),

  ...shapesOf(management, 63 * 1024, (value) => `{"name":"a","x":${value}}`),

  ...shapesOf(otlp, 20 * MIB, (value) => `{"resourceSpans":${value}}`),
  {
    ...otlp,
    what: '60 MiB of empty objects in 59 KB of gzip',
    headers: { ...json, 'Content-Encoding': 'gzip' },
    body: () => gzipSync(`{"resourceSpans":[${'{},'.repeat(20 * MIB)}{}]}`),
  },
]
