import { expect, test } from 'vitest'
import { migration } from './20261129T1445_pipelines_of_merge_requests.ts'
import { migrated } from './one-migration.harness.ts'

const details = (mergeRequest: object) => JSON.stringify({ passedOn: { mergeRequest } })

test('pipelines of earlier records get the merge request that they name', async () => {
  const earlier: readonly [ref: string, details: string][] = [
    ['fix', details({ iid: 7, sourceProjectId: 1, targetProjectId: 1 })],
    ['refs/merge-requests/8/train', '{}'],
    ['fix', details({ iid: 9, sourceProjectId: 1, targetProjectId: 2 })],
    ['main', '{}'],
    ['refs/merge-requests/0/head', '{}'],
  ]
  const rows = await migrated(
    [
      'create table pipelines (id integer primary key, project_id integer, pipeline_id integer, ref text, details text)',
      ...earlier.map(([ref, text], index) => `insert into pipelines values (${index + 1}, 1, 1, '${ref}', '${text}')`),
    ],
    migration,
  )
  const stored = await rows('select merge_request_iid as iid from pipelines order by id')
  expect(stored).toEqual([7, 8, null, null, null].map((iid) => ({ iid })))
})
