import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { listTree } from '../../code/repositories/file-operations.ts'
import { createProjectSnippet, getRawProjectSnippet } from '../../code/snippets/snippet-operations.ts'
import { groupWikis, projectWikis } from '../../work/wikis/wiki-operations.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import { auditRepositories } from './repository-audit.ts'
import { newDirectory } from './repository-directory.ts'
import { repositoryNameOf } from './repository-key.ts'

/** A world with a user, a group and a project, which have the same ids in each. */
interface Place {
  readonly world: World
  readonly user: User
  readonly group: Group
  readonly project: Project
}

let former: Place
let restored: Place

async function place(userName: string): Promise<Place> {
  const world = await World.open()
  const user = await world.user(userName)
  const group = await world.group('ops')
  await world.member(group, user, accessLevels.owner)
  return { world, user, group, project: await world.project('tools', group) }
}

beforeEach(async () => {
  former = await place('mira')
  restored = await place('ivo')
})

afterEach(async () => {
  await former.world.close()
  await restored.world.close()
})

const commit = ({ world, user, project }: Place, filePath: string) =>
  world.perform(user, createCommit, {
    project: project.id,
    branch: 'main',
    commitMessage: filePath,
    actions: [{ action: 'create', filePath, content: filePath }],
  })
const textOf = (error: Error) => `${error.message} ${JSON.stringify(error)}`
/** Each kind of object with a repository: how text is written to it, and how its files are listed or read. */
const kinds = [
  {
    kind: 'project',
    id: ({ project }: Place) => project.id,
    write: commit,
    read: async ({ world, user, project }: Place) =>
      JSON.stringify(await world.perform(user, listTree, { project: project.id }).catch(textOf)),
  },
  {
    kind: 'snippet',
    id: () => 1,
    write: ({ world, user, project }: Place, text: string) =>
      world.perform(user, createProjectSnippet, {
        project: project.id,
        title: 'Snippet',
        visibility: 'private',
        files: [{ filePath: text, content: text }],
      }),
    read: async ({ world, user, project }: Place) => {
      const snippet = { project: project.id, snippetId: 1 }
      return JSON.stringify(await world.perform(user, getRawProjectSnippet, snippet).catch(textOf))
    },
  },
  {
    kind: 'group_wiki',
    id: ({ group }: Place) => group.id,
    write: ({ world, user, group }: Place, title: string) =>
      world.perform(user, groupWikis.create, { parent: group.id, title, content: title }),
    read: async ({ world, user, group }: Place) =>
      JSON.stringify(await world.perform(user, groupWikis.list, { parent: group.id })),
  },
  {
    kind: 'project_wiki',
    id: ({ project }: Place) => project.id,
    write: ({ world, user, project }: Place, title: string) =>
      world.perform(user, projectWikis.create, { parent: project.id, title, content: title }),
    read: async ({ world, user, project }: Place) =>
      JSON.stringify(await world.perform(user, projectWikis.list, { parent: project.id })),
  },
] as const

describe.each(kinds)('a directory of another $kind with the same id', ({ kind, id, write, read: readFiles }) => {
  /** The directory of the other object, under the name of earlier versions, the name it had there, and an unfinished one. */
  beforeEach(async () => {
    await write(former, 'secret')
    const name = repositoryNameOf({ kind, id: id(former) })
    const from = repositoryPath(former.world.core, name)
    const { repositoriesDir } = restored.world.core.settings
    const there = from.replace(former.world.core.settings.repositoriesDir, repositoriesDir)
    for (const path of [join(repositoriesDir, `${name}.git`), there, `${there}.new`])
      await cp(from, path, { recursive: true })
  })

  test('with its name is not read, not written to, and reported', async () => {
    const unknown = (await auditRepositories(restored.world.core)).unknown
    expect(unknown).toHaveLength(3)
    expect(await readFiles(restored)).not.toContain('"secret"')
    await write(restored, 'public')
    const read = await readFiles(restored)
    expect([read.includes('"public"'), read.includes('"secret"')]).toEqual([true, false])
    expect(await auditRepositories(restored.world.core)).toEqual({ unknown, missing: [] })
  })
})

test('a repository of which the directory is lost is reported, and not replaced by an empty one', async () => {
  const { core } = former.world
  await commit(former, 'a')
  const name = String(former.project.id)
  await rm(repositoryPath(core, name), { recursive: true })
  expect((await auditRepositories(core)).missing).toMatchObject([{ repository: name }])
  await expect(commit(former, 'b')).rejects.toMatchObject({ failure: { code: 'unavailable' } })
  expect((await auditRepositories(core)).missing).toMatchObject([{ repository: name }])
})

test('the directory of a change that is not complete yet is not reported', async () => {
  const { core } = former.world
  const directory = newDirectory(core, '99')
  const row = { repository: '99', token: 'x', creates: 1, moves: '[]', directory }
  await core.db.write((db) => db.insertInto('repository_changes').values(row).execute())
  for (const ending of ['.git', '.git.new'])
    await mkdir(join(core.settings.repositoriesDir, directory + ending), { recursive: true })
  expect(await auditRepositories(core)).toEqual({ unknown: [], missing: [] })
})
