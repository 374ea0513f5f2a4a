import { accessLevels, createCommit, type Project, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let mira: User
let app: Project
let first: string

beforeEach(async () => {
  server = await GraphqlServer.start()
  mira = await server.world.user('mira')
  app = await server.world.project('app', mira, 'public')
  const actions = [{ action: 'create', filePath: 'README.md', content: '# App\n' }]
  const input = { project: app.id, branch: 'main', commitMessage: 'Begin', actions }
  first = (await server.world.perform(mira, createCommit, input)).sha
})
afterEach(() => server.close())

const REFUSED =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

async function run(name: string, input: object, fields: string, as: User = mira) {
  const type = `${name.replace(/^./, (letter) => letter.toUpperCase())}Input`
  const { body } = await server.ask(
    `mutation($input: ${type}!) { result: ${name}(input: $input) { errors ${fields} } }`,
    {
      as,
      variables: { input: { projectPath: 'mira/app', ...input } },
    },
  )
  return { ...body.data?.result, refusal: body.errors?.[0].message }
}

test('creates a branch, and returns its commit', async () => {
  const create = (input: object, as?: User) => run('createBranch', input, 'branch { name commit { sha webPath } }', as)
  expect(await create({ name: 'work', ref: 'main' })).toEqual({
    errors: [],
    branch: { name: 'work', commit: { sha: first, webPath: `/mira/app/-/commit/${first}` } },
    refusal: undefined,
  })
  expect(await create({ name: 'work', ref: 'main' })).toMatchObject({
    errors: ['A branch called work already exists'],
    branch: null,
  })
  expect((await create({ name: 'other', ref: 'nowhere' })).errors).toEqual([
    'There is no branch, tag or commit to start from with that name',
  ])
  const reporter = await server.world.user('reporter')
  await server.world.member(app, reporter, accessLevels.reporter)
  expect((await create({ name: 'theirs', ref: 'main' }, reporter)).refusal).toBe(REFUSED)
})

test('creates a commit with actions of every kind, on a branch or a new one', async () => {
  const commit = (input: object, as?: User) =>
    run('commitCreate', { branch: 'main', message: 'Change', ...input }, 'commit { title parentSha } content', as)
  const actions = [
    { action: 'CREATE', filePath: 'a.txt', content: 'YQ==', encoding: 'BASE64' },
    { action: 'MOVE', filePath: 'docs/README.md', previousPath: 'README.md', lastCommitId: first },
    { action: 'CHMOD', filePath: 'docs/README.md', executeFilemode: true },
  ]
  expect(await commit({ actions })).toEqual({
    errors: [],
    commit: { title: 'Change', parentSha: first },
    content: ['YQ=='],
    refusal: undefined,
  })
  const create = (filePath: string) => ({ action: 'CREATE', filePath, content: 'x', lastCommitId: first })
  expect((await commit({ actions: [create('b.txt')], branch: 'new', startBranch: 'main' })).errors).toEqual([])
  expect(await commit({ actions: [create('a.txt')] })).toMatchObject({
    errors: ['A file with the name a.txt already exists'],
    commit: null,
    content: null,
  })
  expect(
    (await commit({ actions: [{ action: 'DELETE', filePath: 'docs/README.md', lastCommitId: first }] })).errors,
  ).toEqual(['docs/README.md has changed since the commit you based your change on'])
  const reporter = await server.world.user('reporter')
  await server.world.member(app, reporter, accessLevels.reporter)
  expect((await commit({ actions }, reporter)).refusal).toBe(REFUSED)
})
