import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { User } from '../../base/model/user.ts'
import { removeGroup } from '../../identity/namespaces/group-operations.ts'
import { listApplications, removeApplication } from '../../identity/oauth/application-operations.ts'
import {
  createGeoNode,
  findGeoNodeByName,
  getGeoNodeById,
  getGeoNodeStatus,
  listGeoNodeFailures,
  listGeoNodeStatuses,
  listGeoNodes,
  listGroupsOfGeoNode,
  removeGeoNode,
  repairGeoNode,
  updateGeoNodeSettings,
} from './geo-node-operations.ts'

let world: World
let root: User

beforeEach(async () => {
  world = await World.open({ geoNodeName: 'berlin' })
  root = await world.user('root', { isAdministrator: true })
})

afterEach(() => world.close())

const create = (input: object = {}, actor: User | undefined = root) =>
  world.perform(actor, createGeoNode, { name: 'oslo', url: 'https://oslo.example.test', ...input })
const createPrimary = () => create({ name: 'berlin', url: 'https://svc.example.test', primary: true })
const update = (geoNodeId: number, input: object) => world.perform(root, updateGeoNodeSettings, { geoNodeId, ...input })
const failure = (error: DomainError) => error.failure
const invalid = (fields: object) => ({ code: 'invalid', fields })
const applications = async () =>
  (await world.perform(root, listApplications, {})).map(({ name, redirectUris, isTrusted }) => ({
    name,
    redirectUris,
    isTrusted,
  }))
const applicationFor = (url: string) => ({
  name: `Geo node: ${url}`,
  redirectUris: [`${url}oauth/geo/callback`],
  isTrusted: true,
})

test('a new node has the defaults, and URLs end with a slash', async () => {
  expect(await create()).toEqual({
    id: 1,
    name: 'oslo',
    url: 'https://oslo.example.test/',
    internalUrl: undefined,
    primary: false,
    enabled: true,
    isCurrent: false,
    filesMaxCapacity: 10,
    reposMaxCapacity: 25,
    verificationMaxCapacity: 100,
    containerRepositoriesMaxCapacity: 10,
    syncObjectStorage: false,
    selectiveSyncType: undefined,
    selectiveSyncShards: [],
    selectiveSyncNamespaceIds: [],
    minimumReverificationInterval: 90,
    blobDownloadTimeout: 28_800,
    applicationId: 1,
    createdAtMs: world.clock.nowMs(),
    updatedAtMs: world.clock.nowMs(),
  })
})

test('an internal URL that is the URL is stored as unset, also after the URL changes', async () => {
  expect((await create({ internalUrl: 'https://oslo.example.test/' })).internalUrl).toBe(undefined)
  expect((await update(1, { internalUrl: 'https://10.0.0.1' })).internalUrl).toBe('https://10.0.0.1/')
  expect((await update(1, { url: 'https://10.0.0.1/' })).internalUrl).toBe(undefined)
})

test('a name is stripped, and gets a slash if it is the URL', async () => {
  expect((await create({ name: ' oslo ' })).name).toBe('oslo')
  const url = 'https://rome.example.test'
  expect((await create({ name: url, url })).name).toBe('https://rome.example.test/')
})

test.each([
  [{ name: ' ' }, { name: ["can't be blank"] }],
  [{ name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
  [{ url: 'oslo' }, { url: ['must be a valid URL'] }],
  [{ url: 'https://user:secret@oslo.example.test' }, { url: ['must be a valid URL'] }],
  [{ url: 'https://oslo.example.test/?a=b' }, { url: ['must be a valid URL'] }],
  [{ url: 'ftp://oslo.example.test' }, { url: ['is blocked: Only allowed schemes are http, https'] }],
  [{ internalUrl: 'javascript:alert(1)' }, { internalUrl: ['is blocked: Only allowed schemes are http, https'] }],
  [{ selectiveSyncType: 'some' }, { selectiveSyncType: ['is not included in the list'] }],
  [{ filesMaxCapacity: -1 }, { filesMaxCapacity: ['must be greater than or equal to 0'] }],
  [{ reposMaxCapacity: 2 ** 31 }, { reposMaxCapacity: ['must be less than or equal to 2147483647'] }],
  [{ minimumReverificationInterval: 0 }, { minimumReverificationInterval: ['must be greater than or equal to 1'] }],
  [{ blobDownloadTimeout: 86_401 }, { blobDownloadTimeout: ['must be less than or equal to 86400'] }],
  [{ blobDownloadTimeout: 0 }, { blobDownloadTimeout: ['must be greater than or equal to 1'] }],
  [{ selectiveSyncNamespaceIds: [77] }, { selectiveSyncNamespaceIds: ['contains a group that does not exist'] }],
  [{ name: 'berlin' }, { base: ['Current node must be the primary node or you will be locking yourself out'] }],
])('refuses %j', async (input, fields) => {
  expect(await create(input).catch(failure)).toEqual(invalid(fields))
  expect(await applications()).toEqual([])
})

test('names are unique ignoring case, and there is one primary', async () => {
  await create()
  expect(await create({ name: 'OSLO' }).catch(failure)).toEqual(invalid({ name: ['has already been taken'] }))
  await createPrimary()
  const second = await create({ name: 'rome', primary: true }).catch(failure)
  expect(second).toEqual(invalid({ primary: ['node already exists'] }))
  expect(await update(1, { primary: true }).catch(failure)).toEqual(invalid({ primary: ['node already exists'] }))
})

test('the node with the configured name is the current one; every node can be disabled', async () => {
  await createPrimary()
  expect(await update(1, { enabled: false })).toMatchObject({ enabled: false, isCurrent: true })
  expect(await world.perform(root, getGeoNodeById, { geoNodeId: 1 })).toMatchObject({ enabled: false })
  expect(await world.perform(root, findGeoNodeByName, {})).toMatchObject({ name: 'berlin' })
  await create()
  expect(await world.perform(root, findGeoNodeByName, { name: 'oslo' })).toMatchObject({ isCurrent: false })
  const unknown = world.perform(root, findGeoNodeByName, { name: 'paris' })
  expect(await unknown.catch(failure)).toEqual({ code: 'not_found' })
})

test('without a configured name, the node with the external URL as its name is the current one', async () => {
  await using other = Object.assign(await World.open(), {
    async [Symbol.asyncDispose]() {
      await other.close()
    },
  })
  const admin = await other.user('root', { isAdministrator: true })
  const url = 'https://svc.example.test'
  const node = await other.perform(admin, createGeoNode, { name: url, url, primary: true })
  expect(node).toMatchObject({ name: 'https://svc.example.test/', isCurrent: true })
})

describe('the OAuth application', () => {
  test('of a secondary follows its URL and is deleted with it; a primary has none', async () => {
    await createPrimary()
    expect(await applications()).toEqual([])
    const { id } = await create()
    expect(await applications()).toEqual([applicationFor('https://oslo.example.test/')])
    await update(id, { url: 'https://bergen.example.test' })
    expect(await applications()).toEqual([applicationFor('https://bergen.example.test/')])
    await world.perform(root, removeGeoNode, { geoNodeId: id })
    expect(await applications()).toEqual([])
  })

  test('goes when a secondary becomes the primary, and comes when a primary becomes a secondary', async () => {
    await create()
    expect((await update(1, { primary: true })).applicationId).toBe(undefined)
    expect(await applications()).toEqual([])
    await update(1, { primary: false })
    expect(await applications()).toEqual([applicationFor('https://oslo.example.test/')])
  })

  test('that an administrator has deleted is recreated by a repair of the primary', async () => {
    await createPrimary()
    const { id, applicationId } = await create()
    await world.perform(root, removeApplication, { id: applicationId })
    expect(await applications()).toEqual([])
    const repair = (geoNodeId: number) => world.perform(root, repairGeoNode, { geoNodeId })
    expect(await repair(id).catch(failure)).toEqual({
      code: 'refused',
      message: '400 Bad request - Repair works only against the primary node',
    })
    expect(await repair(1)).toMatchObject({ node: { id: 1, name: 'berlin' } })
    await repair(1)
    expect(await applications()).toEqual([applicationFor('https://oslo.example.test/')])
    await world.perform(root, removeGeoNode, { geoNodeId: id })
    expect(await applications()).toEqual([])
  })
})

test('a change without values changes nothing, and is not recorded', async () => {
  const group = await world.group('ops')
  const node = await create({ selectiveSyncType: 'namespaces', selectiveSyncNamespaceIds: [group.id, group.id] })
  expect(node.selectiveSyncNamespaceIds).toEqual([group.id])
  world.clock.advance(1_000)
  expect(await update(1, {})).toEqual(node)
  expect(await update(1, { selectiveSyncType: 'namespaces', selectiveSyncNamespaceIds: [group.id] })).toEqual(node)
  const events = await world.core.db.read.selectFrom('events').select('type').execute()
  expect(events.map(({ type }) => type).filter((type) => type.startsWith('geo_node'))).toEqual(['geo_node.created'])
  const changed = await update(1, { selectiveSyncType: '', selectiveSyncShards: ['default'] })
  expect(changed).toEqual({
    ...node,
    selectiveSyncType: undefined,
    selectiveSyncShards: ['default'],
    updatedAtMs: node.updatedAtMs + 1_000,
  })
})

test('a group that is deleted leaves the nodes that replicate it', async () => {
  const group = await world.group('ops')
  await create({ selectiveSyncType: 'namespaces', selectiveSyncNamespaceIds: [group.id] })
  const groups = async () =>
    (await world.perform(root, listGroupsOfGeoNode, { geoNodeId: 1 })).map(({ fullPath }) => fullPath)
  expect(await groups()).toEqual(['ops'])
  await world.perform(root, removeGroup, { group: group.id })
  expect(await groups()).toEqual([])
  expect((await update(1, { filesMaxCapacity: 1 })).selectiveSyncNamespaceIds).toEqual([])
})

test('only the primary has a status, with the counts of the database', async () => {
  await world.project('tools', await world.group('ops'))
  await create()
  const statuses = async () => (await world.perform(root, listGeoNodeStatuses, {})).items
  expect(await statuses()).toEqual([])
  const none = world.perform(root, getGeoNodeStatus, { geoNodeId: 1 })
  expect(await none.catch(failure)).toEqual({ code: 'not_found', what: 'Status for Geo node not found' })
  const { id } = await createPrimary()
  const counts = { projects: 1, snippets: 0, mergeRequestVersions: 0 }
  expect(await world.perform(root, getGeoNodeStatus, { geoNodeId: id })).toMatchObject({ node: { id }, counts })
  expect(await statuses()).toMatchObject([{ node: { id }, counts }])
  expect((await world.perform(root, listGeoNodeFailures, {})).items).toEqual([])
})

test('nodes are listed by id, in pages, and there are 100 at most', async () => {
  for (let number = 1; number <= 100; number += 1) await create({ name: `n${number}` })
  const page = await world.perform(root, listGeoNodes, { page: 2, perPage: 30 })
  expect(page).toMatchObject({ total: 100, hasNext: true, page: 2 })
  expect(page.items.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, index) => 31 + index))
  expect(await create().catch(failure)).toEqual({ code: 'refused', message: 'There are 100 Geo nodes already' })
})

test('only administrators read and write', async () => {
  const mira = await world.user('mira')
  expect(await create({}, mira).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await world.perform(mira, listGeoNodes, {}).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await world.perform(undefined, listGeoNodes, {}).catch(failure)).toEqual({ code: 'unauthenticated' })
})
