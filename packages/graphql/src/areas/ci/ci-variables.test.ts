import { accessLevels, type Group, groupVariables, type Project, projectVariables, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let mia: User
let dev: User
let acme: Group
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  const root = await world.user('root', { isAdministrator: true })
  mia = await world.user('mia')
  dev = await world.user('dev')
  acme = await world.group('acme')
  app = await world.project('app', acme)
  await world.member(app, mia, accessLevels.maintainer)
  await world.member(app, dev, accessLevels.developer)
  const create = (more: object) => world.perform(mia, projectVariables.create, { parent: app.id, ...more })
  await create({ key: 'SVC_OBSERVABILITY_TOKEN', value: 'canary-4f1d', maskedAndHidden: true })
  await create({ key: 'SVC_OBSERVABILITY_EXPORT', value: 'traces,metrics' })
  const inGroup = (more: object) => world.perform(root, groupVariables.create, { parent: acme.id, ...more })
  await inGroup({ key: 'REGISTRY_USER', value: 'canary-4f1d', description: 'who', protected: true })
  await inGroup({ key: 'A_FILE', value: 'canary-4f1d', variableType: 'file', raw: true, environmentScope: 'prod' })
})
afterEach(() => server.close())

const query = `{ project(fullPath: "acme/app") {
  ciVariables(sort: KEY_ASC) { limit nodes { id key value masked hidden protected environmentScope variableType } }
  inheritedCiVariables { nodes { key groupName environmentScope } } } }`

test('shows variables to a Maintainer, without the values of hidden ones', async () => {
  const { body } = await server.ask(query, { as: mia })
  const common = { protected: false, environmentScope: '*', variableType: 'ENV_VAR' }
  expect(body).toEqual({
    data: {
      project: {
        ciVariables: {
          limit: 8_000,
          nodes: [
            {
              id: 'gid://svc/Ci::Variable/2',
              key: 'SVC_OBSERVABILITY_EXPORT',
              value: 'traces,metrics',
              masked: false,
              hidden: false,
              ...common,
            },
            {
              id: 'gid://svc/Ci::Variable/1',
              key: 'SVC_OBSERVABILITY_TOKEN',
              value: null,
              masked: true,
              hidden: true,
              ...common,
            },
          ],
        },
        inheritedCiVariables: {
          nodes: [
            { key: 'A_FILE', groupName: 'acme', environmentScope: 'prod' },
            { key: 'REGISTRY_USER', groupName: 'acme', environmentScope: '*' },
          ],
        },
      },
    },
  })
})

test('returns null to a Developer, without errors', async () => {
  expect((await server.ask(query, { as: dev })).body).toEqual({
    data: { project: { ciVariables: null, inheritedCiVariables: null } },
  })
})

test.each([
  ['ciVariables', 'SVC_OBSERVABILITY_TOKEN SVC_OBSERVABILITY_EXPORT'],
  ['ciVariables(sort: KEY_DESC, first: 1)', 'SVC_OBSERVABILITY_TOKEN'],
  ['inheritedCiVariables(sort: CREATED_ASC)', 'REGISTRY_USER A_FILE'],
  ['inheritedCiVariables(sort: KEY_DESC)', 'REGISTRY_USER A_FILE'],
  ['inheritedCiVariables(last: 1)', 'REGISTRY_USER'],
])('lists %s', async (field, keys) => {
  const { body } = await server.ask(`{ project(fullPath: "acme/app") { list: ${field} { nodes { key } } } }`, {
    as: mia,
  })
  expect(body.data.project.list.nodes.map(({ key }: { key: string }) => key).join(' ')).toBe(keys)
})

test('shows group variables with values to owners only, and inherited ones without values', async () => {
  const owner = await server.world.user('olga')
  await server.world.member(acme, owner, accessLevels.owner)
  const ask = (as: User) =>
    server.ask(
      `{ group(fullPath: "acme") { ciVariables { limit nodes { id key value raw variableType description protected } } }
         project(fullPath: "acme/app") { inheritedCiVariables(first: 1) { nodes { id raw variableType groupCiCdSettingsPath } } } }`,
      { as },
    )
  const common = { raw: false, variableType: 'ENV_VAR', description: null, protected: false, value: 'canary-4f1d' }
  expect((await ask(owner)).body.data).toEqual({
    group: {
      ciVariables: {
        limit: 30_000,
        nodes: [
          { ...common, id: 'gid://svc/Ci::GroupVariable/3', key: 'REGISTRY_USER', description: 'who', protected: true },
          { ...common, id: 'gid://svc/Ci::GroupVariable/4', key: 'A_FILE', variableType: 'FILE', raw: true },
        ],
      },
    },
    project: {
      inheritedCiVariables: {
        nodes: [
          {
            id: 'gid://svc/Ci::GroupVariable/4',
            raw: true,
            variableType: 'FILE',
            groupCiCdSettingsPath: '/groups/acme/-/settings/ci_cd',
          },
        ],
      },
    },
  })
  const { body } = await ask(mia)
  expect(body.data.group).toEqual({ ciVariables: null })
  expect(JSON.stringify(body)).not.toContain('canary')
})

test('returns an empty list of instance variables to administrators and null to others', async () => {
  const root = await server.world.user('admin', { isAdministrator: true })
  const text = '{ ciVariables { nodes { id key value } } }'
  expect((await server.ask(text, { as: root })).body).toEqual({ data: { ciVariables: { nodes: [] } } })
  expect((await server.ask(text, { as: mia })).body).toEqual({ data: { ciVariables: null } })
})
