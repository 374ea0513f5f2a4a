import { accessLevels, type Project, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'
import { putRecord } from './put-record.harness.ts'

let server: GraphqlServer
let alice: User
let guest: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  alice = await world.user('alice')
  guest = await world.user('gus')
  app = await world.project('app', await world.group('acme'))
  await world.member(app, alice, accessLevels.developer)
  await world.member(app, guest, accessLevels.guest)
  const builds = [{ id: 530, name: 'deploy', stage: 'deploy', status: 'manual' }]
  await putRecord(world, alice, app, 312, { status: 'failed' }, { builds })
})
afterEach(() => server.close())

const NOT_AVAILABLE =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

const pipeline = 'id: "gid://svc/Ci::Pipeline/312"'
const job = 'id: "gid://svc/Ci::Build/530"'
const changes: readonly [name: string, input: string, fields: string, answer: object][] = [
  ['pipelineCancel', pipeline, 'errors', { errors: ['Pipeline is not cancelable'] }],
  [
    'pipelineRetry',
    `${pipeline}, clientMutationId: "r1"`,
    'clientMutationId errors pipeline { id }',
    { clientMutationId: 'r1', errors: ['Pipeline is not retryable'], pipeline: null },
  ],
  [
    'pipelineCreate',
    'projectPath: "acme/app", ref: "main", variables: [{ key: "DEPLOY", value: "1", variableType: ENV_VAR }]',
    'errors pipeline { iid } requestId',
    { errors: ['Pipelines are started elsewhere and recorded here'], pipeline: null, requestId: null },
  ],
  [
    'jobPlay',
    `${job}, variables: [{ key: "TARGET", value: "staging" }], inputs: [{ name: "n", value: [1] }]`,
    'errors job { id }',
    { errors: ['Job is not playable'], job: null },
  ],
  ['jobRetry', job, 'errors', { errors: ['Job is not retryable'] }],
  ['jobCancel', job, 'errors', { errors: ['Job is not cancelable'] }],
  ['jobUnschedule', job, 'errors', { errors: ['Job is not scheduled here'] }],
  [
    'jobArtifactsDestroy',
    job,
    'errors destroyedArtifactsCount',
    { errors: ['Artifacts are kept where the job ran, and not here'], destroyedArtifactsCount: 0 },
  ],
]

test.each(changes)(
  '%s fails with a reason for permitted callers, and as not available for others',
  async (name, input, fields, answer) => {
    const text = `mutation { ${name}(input: { ${input} }) { ${fields} } }`
    expect((await server.ask(text, { as: alice })).body).toEqual({ data: { [name]: answer } })
    const outsider = await server.world.user('noor')
    const refused = { data: { [name]: null }, errors: [{ message: NOT_AVAILABLE, path: [name] }] }
    for (const as of [guest, outsider, undefined]) {
      expect((await server.ask(text, { ...(as && { as }) })).body).toMatchObject(refused)
    }
    expect((await server.ask(text, { as: alice, scope: 'read_api' })).body).toMatchObject(refused)
  },
)

test.each(['pipelineCancel', 'jobPlay'])('%s reports a missing object as not available', async (name) => {
  const id = name === 'jobPlay' ? 'gid://svc/Ci::Bridge/9' : 'gid://svc/Ci::Pipeline/9'
  const { body } = await server.ask(`mutation { ${name}(input: { id: "${id}" }) { errors } }`, { as: alice })
  expect(body).toMatchObject({ data: { [name]: null }, errors: [{ message: NOT_AVAILABLE }] })
})

test('lets only owners destroy a pipeline', async () => {
  const text = `mutation { pipelineDestroy(input: { ${pipeline}, clientMutationId: "d" }) { clientMutationId errors } }`
  expect((await server.ask(text, { as: alice })).body).toMatchObject({
    data: { pipelineDestroy: null },
    errors: [{ message: NOT_AVAILABLE, path: ['pipelineDestroy'] }],
  })
  const mia = await server.world.user('mia')
  await server.world.member(app, mia, accessLevels.owner)
  expect((await server.ask(text, { as: mia })).body).toEqual({
    data: { pipelineDestroy: { clientMutationId: 'd', errors: [] } },
  })
  const { body } = await server.ask('{ project(fullPath: "acme/app") { pipelines { count } } }', { as: mia })
  expect(body.data.project.pipelines.count).toBe(0)
})
