import { accessLevels, createCommit, createTag, type Project, type User, updateUser } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

const LIMIT = 100

let server: GraphqlServer
let root: User
let app: Project
let first: string

beforeEach(async () => {
  server = await GraphqlServer.start({ maxBlobBytes: LIMIT })
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  app = await world.project('app', root, 'public')
  first = await commit('Begin\n\nWith a page.', [
    { action: 'create', filePath: 'README.md', content: '# App\n' },
    { action: 'create', filePath: 'src/main.ts', content: 'start()\n' },
  ])
})
afterEach(() => server.close())

async function commit(commitMessage: string, actions: object[], more = {}): Promise<string> {
  const input = { project: app.id, branch: 'main', commitMessage, actions, ...more }
  return (await server.world.perform(root, createCommit, input)).sha
}

async function repository(fields: string, as?: User) {
  const { body } = await server.ask(`{ project(fullPath: "root/app") { repository { ${fields} } } }`, as && { as })
  expect(body.errors).toBeUndefined()
  return body.data.project.repository
}

const change = (content: string) => [{ action: 'update', filePath: 'README.md', content }]

test('shows branches, tags and commits', async () => {
  const fields = 'exists empty rootRef branchCount tagCount commitCount'
  expect(await repository(fields)).toEqual({
    exists: true,
    empty: false,
    rootRef: 'main',
    branchCount: 1,
    tagCount: 0,
    commitCount: 1,
  })
  await commit('More', change('# The app\n'))
  await commit('Apart', change('# Apart\n'), { branch: 'apart', startBranch: 'main' })
  await server.world.perform(root, createTag, { project: app.id, tagName: 'v1', ref: 'main' })
  expect(await repository(fields)).toMatchObject({ branchCount: 2, tagCount: 1, commitCount: 2 })
})

test('counts a merge and the common history of its sides once', async () => {
  const { world } = server
  await commit('Left', change('# Left\n'))
  await commit('Right', change('# Right\n'), { branch: 'right', startBranch: first })
  expect(await repository('commitCount')).toEqual({ commitCount: 2 })
  await world.project('other', root, 'public')
  const { body } = await server.ask('{ project(fullPath: "root/other") { repository { commitCount } } }')
  expect(body.data.project.repository).toEqual({ commitCount: 0 })
})

test('shows an empty repository', async () => {
  await server.world.project('empty', root, 'public')
  const { body } = await server.ask(`{ project(fullPath: "root/empty") { repository {
    exists empty rootRef branchCount tagCount commitCount commit(ref: "main") { sha } lastCommit { sha }
    blobs(paths: ["README.md"]) { nodes { path } }
  } } }`)
  expect(body.data.project.repository).toEqual({
    exists: false,
    empty: true,
    rootRef: null,
    branchCount: 0,
    tagCount: 0,
    commitCount: 0,
    commit: null,
    lastCommit: null,
    blobs: { nodes: [] },
  })
})

test('returns null to callers who may not read the repository', async () => {
  const { world } = server
  const [guest, reporter] = [await world.user('guest'), await world.user('reporter')]
  const inner = await world.project('inner', root)
  await world.member(inner, guest, accessLevels.guest)
  await world.member(inner, reporter, accessLevels.reporter)
  const document = '{ project(fullPath: "root/inner") { id repository { exists } } }'
  const project = { id: `gid://svc/Project/${inner.id}`, repository: null }
  expect((await server.ask(document, { as: guest })).body).toEqual({ data: { project } })
  expect((await server.ask(document, { as: reporter })).body.data.project.repository).toEqual({ exists: false })
})

describe('files', () => {
  const paths = '["README.md", "missing.txt", "src/main.ts", "src"]'

  test('shows the fields of existing files', async () => {
    const fields = 'id oid name path mode size rawSize webPath rawPath storedExternally lfsOid'
    const { blobs } = await repository(`blobs(paths: ${paths}) { nodes { ${fields} } }`)
    expect(blobs.nodes).toEqual([
      {
        id: `gid://svc/Blob/${blobs.nodes[0].oid}`,
        oid: expect.stringMatching(/^[0-9a-f]{40}$/),
        name: 'README.md',
        path: 'README.md',
        mode: '100644',
        size: '6',
        rawSize: '6',
        webPath: '/root/app/-/blob/main/README.md',
        rawPath: '/root/app/-/raw/main/README.md',
        storedExternally: false,
        lfsOid: null,
      },
      expect.objectContaining({ name: 'main.ts', path: 'src/main.ts', size: '8' }),
    ])
  })

  test('lists files at a branch, tag or commit, in pages', async () => {
    await server.world.perform(root, createTag, { project: app.id, tagName: 'main', ref: first })
    await commit('More', change('# The app\n'))
    const text = 'nodes { rawTextBlob } pageInfo { hasNextPage }'
    const { tag, head, sha, page, none } = await repository(`
      tag: blobs(paths: "README.md", ref: "main", refType: TAGS) { ${text} }
      head: blobs(paths: "README.md", ref: "main", refType: HEADS) { ${text} }
      sha: blobs(paths: "README.md", ref: "${first}") { ${text} }
      page: blobs(paths: ${paths}, first: 1) { ${text} }
      none: blobs(paths: ${paths}, ref: "nowhere") { ${text} }`)
    const isLast = { pageInfo: { hasNextPage: false } }
    expect(tag).toEqual({ nodes: [{ rawTextBlob: '# App\n' }], ...isLast })
    expect(head).toEqual({ nodes: [{ rawTextBlob: '# The app\n' }], ...isLast })
    expect(sha).toEqual(tag)
    expect(page).toEqual({ nodes: [{ rawTextBlob: '# The app\n' }], pageInfo: { hasNextPage: true } })
    expect(none).toEqual({ nodes: [], ...isLast })
  })

  test('shows files that are not text in Base64 only', async () => {
    const binary = { action: 'create', filePath: 'a.bin', content: '/wD+', encoding: 'base64' }
    const zero = { action: 'create', filePath: 'b.txt', content: 'YQBi', encoding: 'base64' }
    await commit('Bytes', [binary, zero])
    const { blobs } = await repository(
      'blobs(paths: ["a.bin", "b.txt"]) { nodes { rawBlob rawTextBlob plainData base64EncodedBlob } }',
    )
    expect(blobs.nodes).toEqual([
      { rawBlob: null, rawTextBlob: null, plainData: null, base64EncodedBlob: '/wD+' },
      { rawBlob: 'a\0b', rawTextBlob: null, plainData: null, base64EncodedBlob: 'YQBi' },
    ])
  })

  test('rejects more than 100 paths', async () => {
    const many = JSON.stringify(Array.from({ length: 101 }, (_, index) => `f${index}`))
    const { body } = await server.ask(
      `{ project(fullPath: "root/app") { repository { blobs(paths: ${many}) { nodes { path } } } } }`,
    )
    expect(body.errors).toMatchObject([{ message: 'Paths is invalid', path: ['project', 'repository', 'blobs'] }])
  })
})

describe('the content of files in one request', () => {
  const message = `The data of several blobs may be at most ${LIMIT} bytes in one request`
  const errorsOf = (body: { errors?: { message: string; path: unknown[] }[] }) =>
    body.errors?.map((error) => [error.message, error.path.join('.')])

  beforeEach(async () => {
    const files = { 'a.txt': 60, 'b.txt': 40, 'c.txt': 1, 'large.txt': 500 }
    await commit(
      'Files',
      Object.entries(files).map(([filePath, size]) => ({ action: 'create', filePath, content: 'x'.repeat(size) })),
    )
  })

  const blobsQuery = (paths: string[], fields: string) =>
    `{ project(fullPath: "root/app") { repository { blobs(paths: ${JSON.stringify(paths)}) { nodes { ${fields} } } } } }`

  test('includes one file of any size, in every encoding', async () => {
    const { body } = await server.ask(blobsQuery(['large.txt'], 'size rawBlob rawTextBlob base64EncodedBlob'))
    expect(body.errors).toBeUndefined()
    const [node] = body.data.project.repository.blobs.nodes
    expect(node).toMatchObject({ size: '500', rawBlob: 'x'.repeat(500), rawTextBlob: 'x'.repeat(500) })
  })

  test('includes several files up to the limit, and only the sizes of the others', async () => {
    const { body } = await server.ask(blobsQuery(['a.txt', 'b.txt', 'c.txt'], 'size rawBlob'))
    expect(body.data.project.repository.blobs.nodes).toEqual([
      { size: '60', rawBlob: 'x'.repeat(60) },
      { size: '40', rawBlob: 'x'.repeat(40) },
      { size: '1', rawBlob: null },
    ])
    expect(errorsOf(body)).toEqual([[message, 'project.repository.blobs.nodes.2.rawBlob']])
  })

  test('includes no other file if the first one exceeds the limit', async () => {
    const { body } = await server.ask(blobsQuery(['large.txt', 'c.txt'], 'base64EncodedBlob'))
    expect(body.data.project.repository.blobs.nodes[1]).toEqual({ base64EncodedBlob: null })
    expect(errorsOf(body)).toEqual([[message, 'project.repository.blobs.nodes.1.base64EncodedBlob']])
  })

  test('counts a file again under another alias and in another operation of a batch', async () => {
    const again = await server.ask(blobsQuery(['a.txt'], 'one: rawBlob two: rawBlob'))
    expect(errorsOf(again.body)).toEqual([[message, 'project.repository.blobs.nodes.0.two']])
    const query = blobsQuery(['a.txt'], 'rawBlob')
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const { body } = await server.send({ ...init, body: JSON.stringify([{ query }, { query }]) })
    expect(body.map(errorsOf)).toEqual([undefined, [[message, 'project.repository.blobs.nodes.0.rawBlob']]])
  })

  test('does not limit sizes without content', async () => {
    const { body } = await server.ask(blobsQuery(['large.txt', 'a.txt', 'b.txt'], 'size rawSize'))
    expect(body.errors).toBeUndefined()
  })
})

test('limits several files to 20 MB in total', async () => {
  const real = await GraphqlServer.start({}, server.world)
  const content = (size: number) => Buffer.alloc(size, 'x').toString('base64')
  const [half, rest] = [content(10 * 1024 * 1024), content(1)]
  const file = (filePath: string, content: string) => ({ action: 'create', filePath, content, encoding: 'base64' })
  await commit('Large', [file('a', half), file('b', half), file('c', rest)])
  const { body } = await real.ask(
    '{ project(fullPath: "root/app") { repository { blobs(paths: ["a", "b", "c"]) { nodes { size rawBlob } } } } }',
  )
  const { nodes } = body.data.project.repository.blobs
  expect(nodes.map(({ rawBlob }: { rawBlob: string | null }) => rawBlob?.length)).toEqual([
    10485760,
    10485760,
    undefined,
  ])
  expect(nodes[2].size).toBe('1')
  expect(body.errors[0].message).toBe('The data of several blobs may be at most 20 MB in one request')
})

describe('a commit', () => {
  test('finds a commit by branch, tag, id or the start of an id', async () => {
    const latest = await commit('More', change('# The app\n'))
    await server.world.perform(root, createTag, { project: app.id, tagName: 'v1', ref: first })
    const { branch, tag, short, none } = await repository(`
      branch: commit(ref: "main") { sha } tag: commit(ref: "v1") { sha tags }
      short: commit(ref: "${first.slice(0, 7)}") { sha } none: commit(ref: "nowhere") { sha }`)
    expect([branch, tag, short, none]).toEqual([{ sha: latest }, { sha: first, tags: ['v1'] }, { sha: first }, null])
  })

  test('shows all fields of a commit', async () => {
    const latest = await commit('Say more\n\nIn < two lines.', change('# The app\nIt runs.\n'))
    const { body } = await server.ask(
      `{ project(fullPath: "root/app") { repository { commit(ref: "main") {
        id sha shortId parentSha name title titleHtml fullTitle message description descriptionHtml authorName authorEmail
        authoredDate committerName committerEmail committedDate webPath webUrl signatureHtml authorGravatar tags
        author { username } diffStatsSummary { additions deletions changes fileCount }
      } } } }`,
      { as: root },
    )
    expect(body).toEqual({
      data: {
        project: {
          repository: {
            commit: {
              id: `gid://svc/CommitPresenter/${latest}`,
              sha: latest,
              shortId: latest.slice(0, 8),
              parentSha: first,
              name: 'Say more',
              title: 'Say more',
              titleHtml: 'Say more',
              fullTitle: 'Say more',
              message: 'Say more\n\nIn < two lines.',
              description: 'In < two lines.',
              descriptionHtml: 'In &#60; two lines.',
              authorName: 'root Holt',
              authorEmail: 'root@example.test',
              authoredDate: '2026-02-03T04:05:06Z',
              committerName: 'root Holt',
              committerEmail: 'root@example.test',
              committedDate: '2026-02-03T04:05:06Z',
              webPath: `/root/app/-/commit/${latest}`,
              webUrl: `https://svc.example.test/root/app/-/commit/${latest}`,
              signatureHtml: null,
              authorGravatar: null,
              tags: [],
              author: { username: 'root' },
              diffStatsSummary: { additions: 2, deletions: 1, changes: 3, fileCount: 1 },
            },
          },
        },
      },
    })
  })

  test('finds the last commit that changed a path', async () => {
    const latest = await commit('More', change('# The app\n'))
    const fields = await repository(`
      readme: lastCommit(path: "README.md") { sha } source: lastCommit(path: "src/") { sha }
      all: lastCommit { sha } old: lastCommit(path: "README.md", ref: "${first}") { sha }
      none: lastCommit(path: "nothing") { sha }`)
    expect(fields).toEqual({
      readme: { sha: latest },
      source: { sha: first },
      all: { sha: latest },
      old: { sha: first },
      none: null,
    })
  })

  test('shows the author as a user to callers who may see their email address', async () => {
    const { world } = server
    const [mira, noor] = [await world.user('mira'), await world.user('noor')]
    await commit('By Mira', change('# Mira\n'), { authorEmail: 'MIRA@example.test', authorName: 'M' })
    await commit('By Noor', change('# Noor\n'), {
      authorEmail: 'noor@shown.test',
      authorName: 'N',
      branch: 'noor',
      startBranch: 'main',
    })
    await world.perform(root, updateUser, { user: noor.id, publicEmail: 'noor@shown.test' })
    const authors = async (as?: User) => {
      const { byMira, byNoor } = await repository(
        'byMira: commit(ref: "main") { author { username } } byNoor: commit(ref: "noor") { author { username } }',
        as,
      )
      return [byMira.author?.username, byNoor.author?.username]
    }
    expect(await authors()).toEqual([undefined, 'noor'])
    expect(await authors(noor)).toEqual([undefined, 'noor'])
    expect(await authors(mira)).toEqual(['mira', 'noor'])
    expect(await authors(root)).toEqual(['mira', 'noor'])
  })
})

test('needs as many statements for ten repositories as for two', async () => {
  const { world } = server
  for (let index = 0; index < 9; index += 1) {
    const project = { id: (await world.project(`p${index}`, root, 'public')).id }
    const actions = [{ action: 'create', filePath: 'a.txt', content: `${index}` }]
    await world.perform(root, createCommit, { project: project.id, branch: 'main', commitMessage: 'a', actions })
  }
  const ask = async (first: number) => {
    const { body } = await server.ask(
      `{ projects(first: ${first}) { nodes { repository {
        branchCount commitCount blobs(paths: "a.txt") { nodes { size } }
        commit(ref: "main") { sha tags author { username } diffStatsSummary { additions } }
      } } } }`,
      { as: root },
    )
    expect(body.errors).toBeUndefined()
    expect(
      body.data.projects.nodes.map((node: { repository: { branchCount: number } }) => node.repository.branchCount),
    ).toEqual(Array(first).fill(1))
  }
  await server.tokenOf(root)
  const few = await server.world.statements(() => ask(2))
  expect(await server.world.statements(() => ask(10))).toBe(few)
})
