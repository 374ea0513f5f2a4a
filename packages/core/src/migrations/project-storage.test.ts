import { expect, test } from 'vitest'
import { migration } from './20261122T1540_project_storage.ts'
import { migrated } from './one-migration.harness.ts'

/** The parts of the earlier tables that the migration reads. */
const tables = [
  'create table projects (id integer primary key)',
  'create table pipelines (id integer primary key, project_id integer, details text)',
  'create table pipeline_jobs (id integer primary key, pipeline_key integer, details text)',
  'insert into projects values (1), (2)',
  "insert into pipelines values (11, 1, 'ü'), (12, 1, '')",
  "insert into pipeline_jobs values (1, 11, '1234567890'), (2, 11, '')",
]

test('records of earlier versions are counted, and repositories are marked to be measured', async () => {
  const rows = await migrated(tables, migration)
  const sizes = await rows('select * from pipeline_record_sizes order by pipeline_key')
  expect(sizes).toEqual([
    { pipeline_key: 11, bytes: 512 + 2 + 256 + 10 + 256 },
    { pipeline_key: 12, bytes: 512 },
  ])
  const unmeasured = { repository_bytes: null, measured_at_ms: null }
  const projects = await rows('select * from project_storage order by project_id')
  expect(projects).toEqual([
    { project_id: 1, records_bytes: 512 + 2 + 256 + 10 + 256 + 512, ...unmeasured },
    { project_id: 2, records_bytes: 0, ...unmeasured },
  ])
})
