import { expect, test } from 'vitest'
import { migration } from './20261129T1450_repository_directories.ts'
import { migrated } from './one-migration.harness.ts'

/** The parts of the earlier tables that the migration reads. */
const tables = [
  'create table projects (id integer primary key, is_empty integer)',
  'create table repository_sizes (repository text)',
  'create table removed_repositories (repository text, is_swept integer)',
  'create table repository_changes (repository text, creates integer)',
  'insert into projects values (1, 0), (2, 1), (3, 0), (4, 1)',
  "insert into repository_sizes values ('snippets/1'), ('snippets/2'), ('project-wikis/1'), ('group-wikis/7')",
  "insert into removed_repositories values ('9', 0), ('10', 1), ('group-wikis/7', 0)",
  "insert into repository_changes values ('3', 0), ('4', 1), ('snippets/2', 1)",
]

test('repositories of earlier versions keep their directories, and others get none', async () => {
  const rows = await migrated(tables, migration)
  const directories = ['1', '3', '9', 'group-wikis/7', 'project-wikis/1', 'snippets/1']
  expect(await rows('select * from repository_directories order by repository')).toEqual(
    directories.map((directory) => ({ repository: directory, directory })),
  )
  expect(await rows('select * from repository_changes order by repository')).toEqual([
    { repository: '3', creates: 0, directory: '3' },
    { repository: '4', creates: 1, directory: '4' },
    { repository: 'snippets/2', creates: 1, directory: 'snippets/2' },
  ])
})
