import { expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'
import { GlobalIds } from './global-id.ts'

const ids = new GlobalIds('svc')

test.each([1, 42, Number.MAX_SAFE_INTEGER])('parses the Global ID that it prints for %d', (id) => {
  expect(ids.numberIn(ids.of('Project', id), 'ProjectID')).toBe(id)
  expect(ids.numberInArgument(ids.of('Project', id), 'Project')).toBe(id)
})

test.each([
  'gid://svc/Project/9007199254740992',
  'gid://svc/Project/10000000000000000',
  'gid://svc/Project/',
  'gid://svc/Project/-1',
  'gid://svc/Project/1.5',
  'gid://svc/Project/1/2',
  'gid://svc/Project/1\n',
  'Project/1',
  '1',
])('rejects %j, which is not a Global ID', (text) => {
  expect(() => ids.numberIn(text, 'ProjectID')).toThrow(`${JSON.stringify(text)} is not a valid Global ID`)
  expect(() => ids.numberInArgument(text, 'Project')).toThrow(`${text} is not a valid Svc ID.`)
})

test('rejects a Global ID of another service or of another model', () => {
  expect(() => ids.numberIn('gid://other/User/1', 'UserID')).toThrow('"gid://other/User/1" is not a Svc Global ID')
  expect(() => ids.numberIn('gid://svc/Project/1', 'UserID')).toThrow(
    '"gid://svc/Project/1" does not represent an instance of User',
  )
  expect(() => ids.numberInArgument('gid://svc/Project/1', 'Milestone')).toThrow(
    'gid://svc/Project/1 is not a valid ID for Milestone.',
  )
})

test('returns null for ids with the largest possible number', async () => {
  const server = await GraphqlServer.start()
  const root = await server.world.user('root', { isAdministrator: true })
  await server.world.project('app', root)
  const largest = Number.MAX_SAFE_INTEGER
  const { body } = await server.ask(
    `{ user(id: "gid://svc/User/${largest}") { id } issue(id: "gid://svc/Issue/${largest}") { id }
      users(ids: ["gid://svc/User/${largest}"]) { nodes { id } }
      project(fullPath: "root/app") {
        issue(iid: "${largest}") { id } mergeRequest(iid: "${largest}") { id } pipeline(iid: "${largest}") { id }
        one: pipeline(id: "gid://svc/Ci::Pipeline/${largest}") { id } } }`,
    { as: root },
  )
  expect(body).toEqual({
    data: {
      user: null,
      issue: null,
      users: { nodes: [] },
      project: { issue: null, mergeRequest: null, pipeline: null, one: null },
    },
  })
  await server.close()
})
