import { expect, test } from 'vitest'
import { migration } from './20261129T1530_stored_texts.ts'
import { migrated } from './one-migration.harness.ts'

const tables = ['labels', 'milestones', 'releases', 'issues', 'merge_requests'].map(
  (table) => `create table ${table} (id integer primary key, project_id integer, description text)`,
)

test('texts of earlier versions are counted, those of groups are not', async () => {
  const rows = await migrated(
    [
      ...tables,
      'create table notes (id integer primary key, project_id integer, body text)',
      'create table project_storage (project_id integer primary key, records_bytes integer not null)',
      'insert into project_storage values (1, 7)',
      "insert into labels values (1, 1, 'ü'), (2, null, 'of a group'), (3, 2, null)",
      "insert into notes values (1, 1, 'abc')",
    ],
    migration,
  )
  expect(await rows('select * from project_storage order by project_id')).toEqual([
    { project_id: 1, records_bytes: 7, texts_bytes: 256 + 2 + 256 + 3 },
    { project_id: 2, records_bytes: 0, texts_bytes: 256 },
  ])
})
