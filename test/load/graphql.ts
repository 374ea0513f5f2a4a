/**
 * Measures the cost of a GraphQL query of the service compared with bare graphql-js with the same resolvers and database.
 * Both are processes that answer over HTTP: `npm run bench:graphql`. It needs wrk.
 */
import { deepStrictEqual } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { atMost, reportBounds } from './bounds.ts'
import { type Call, measuredInTurns, printMeasured, ratioOf } from './core/measured.ts'
import { type PenstockCore, startPenstockCore } from './core/penstock-core.ts'
import { startScript } from './gateway/subjects.ts'
import type { WrkRequest } from './gateway/wrk.ts'

const MOST_TIMES_BARE = 1.5
const ISSUES = 100
const PIPELINES = 30

const project = (selection: string) => `query Bench($path: ID!) { project(fullPath: $path) { ${selection} } }`

const documents = {
  one: project('id name fullPath visibility createdAt'),
  issues: project(`issues(first: 20) { pageInfo { hasNextPage endCursor }
    nodes { id iid title state createdAt author { username } labels { nodes { title color } } } }`),
  moreIssues: project('issues(first: 100) { nodes { id iid title state createdAt updatedAt } }'),
  pipelines: project(`pipelines(first: 20) { nodes { id iid status source ref sha duration queuedDuration
    stages { nodes { name status } } } }`),
} as const
type Name = keyof typeof documents
const names = Object.keys(documents) as Name[]

execFileSync('which', ['wrk'], { stdio: 'ignore' })
const core = await startPenstockCore()
try {
  const token = await stock(core)
  const bare = await startScript('../graphql/bare-graphql.js', [core.location, `http://127.0.0.1:${core.port}`])
  try {
    const asked = (port: number, path: string, name: Name): WrkRequest => ({
      port,
      method: 'POST',
      path,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify({ query: documents[name], variables: { path: 'orchard/pears' } })),
    })
    const calls: Record<string, Call> = {}
    for (const name of names) {
      const [ours, theirs] = [asked(core.port, '/api/graphql', name), asked(bare.httpPort, '/', name)]
      await requireSameData(ours, theirs)
      calls[`bare ${name}`] = { name: `bare, ${name}`, request: () => theirs, cpuSeconds: bare.cpuSeconds }
      calls[`ours ${name}`] = { name: `core, ${name}`, request: () => ours, cpuSeconds: core.cpuSeconds }
    }
    const results = await measuredInTurns(calls, { rounds: 5, seconds: 3 })
    printMeasured('GraphQL queries, SQLite', results)
    reportBounds(
      'CPU per query beside bare graphql-js with the same resolvers',
      names.map((name) =>
        atMost(name, ratioOf(results[`ours ${name}`]!, results[`bare ${name}`]!), MOST_TIMES_BARE, 'times', 2),
      ),
    )
  } finally {
    await bare.stop()
  }
} finally {
  await core.stop()
}

/** Creates a project with issues and pipelines, and returns the token of a developer. */
async function stock({ call }: PenstockCore): Promise<string> {
  const group = await call('POST', '/groups', { name: 'Orchard', path: 'orchard' })
  const login = { username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: 'eight-green-apples' }
  const user = await call('POST', '/users', login)
  await call('POST', `/groups/${group.id}/members`, { user_id: user.id, access_level: 30 })
  const issued = await call('POST', `/users/${user.id}/personal_access_tokens`, { name: 'load', scopes: ['api'] })
  const { id } = await call('POST', '/projects', { name: 'Pears', path: 'pears', namespace_id: group.id })
  for (let number = 1; number <= ISSUES; number += 1) {
    await call('POST', `/projects/${id}/issues`, { title: `Issue ${number}`, labels: ['ripe', `row ${number % 7}`] })
  }
  for (let number = 1; number <= PIPELINES; number += 1) {
    const builds = ['build', 'test', 'deploy'].map((stage, index) => ({
      ...{ id: number * 10 + index, name: stage, stage, status: 'success', created_at: '2026-02-03 04:05:06 UTC' },
    }))
    await call('PUT', `/projects/${id}/pipeline_records/${number}`, {
      object_kind: 'pipeline',
      object_attributes: { id: number, ref: 'main', status: 'success', source: 'push', duration: 60 },
      builds,
    })
  }
  return String(issued.token)
}

async function requireSameData(one: WrkRequest, other: WrkRequest): Promise<void> {
  const [ours, theirs] = [await dataOf(one), await dataOf(other)]
  if (ours?.project == null) throw new Error(`nothing to measure: ${JSON.stringify(ours)}`)
  deepStrictEqual(ours, theirs)
}

async function dataOf({ port, path, headers, body }: WrkRequest) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: Buffer.from(body!) })
  const { data, errors } = JSON.parse(await response.text())
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return data
}
