import { createGeoNode } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer

beforeEach(async () => {
  server = await GraphqlServer.start()
})

afterEach(() => server.close())

test('administrators read the site that answers and the others by name', async () => {
  const { world } = server
  const [root, mira] = [await world.user('root', { isAdministrator: true }), await world.user('mira')]
  const ops = await world.group('ops')
  const url = world.core.settings.externalUrl
  await world.perform(root, createGeoNode, { name: url, url, primary: true })
  await world.perform(root, createGeoNode, {
    name: 'oslo',
    url: 'https://oslo.example.test',
    internalUrl: 'https://10.0.0.2',
    selectiveSyncType: 'namespaces',
    selectiveSyncNamespaceIds: [ops.id],
    selectiveSyncShards: ['default'],
  })
  const ask = async (fields: string, as?: typeof root) => (await server.ask(fields, as ? { as } : {})).body.data
  const own = '{ geoNode { id name url internalUrl primary enabled selectiveSyncNamespaces { nodes { id } } } }'
  expect(await ask(own, root)).toEqual({
    geoNode: {
      id: 'gid://svc/GeoNode/1',
      name: `${url}/`,
      url: `${url}/`,
      internalUrl: `${url}/`,
      primary: true,
      enabled: true,
      selectiveSyncNamespaces: { nodes: [] },
    },
  })
  const other = `{ geoNode(name: "oslo") {
    internalUrl filesMaxCapacity reposMaxCapacity verificationMaxCapacity containerRepositoriesMaxCapacity
    minimumReverificationInterval syncObjectStorage selectiveSyncType selectiveSyncShards
    selectiveSyncNamespaces(first: 5) { nodes { fullPath } pageInfo { hasNextPage } }
  } }`
  expect(await ask(other, root)).toEqual({
    geoNode: {
      internalUrl: 'https://10.0.0.2/',
      filesMaxCapacity: 10,
      reposMaxCapacity: 25,
      verificationMaxCapacity: 100,
      containerRepositoriesMaxCapacity: 10,
      minimumReverificationInterval: 90,
      syncObjectStorage: false,
      selectiveSyncType: 'namespaces',
      selectiveSyncShards: ['default'],
      selectiveSyncNamespaces: { nodes: [{ fullPath: 'ops' }], pageInfo: { hasNextPage: false } },
    },
  })
  const nothing = { geoNode: null }
  expect(await ask('{ geoNode(name: "rome") { id } }', root)).toEqual(nothing)
  expect(await ask('{ geoNode { id } }', mira)).toEqual(nothing)
  expect(await ask('{ geoNode { id } }')).toEqual(nothing)
})
