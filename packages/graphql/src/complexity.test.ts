import { expect, test } from 'vitest'
import { costOf } from './complexity.ts'
import { costTable } from './cost-table.ts'

/** Of a field with children of 10. */
const cost = (field: string, given: Record<string, unknown>, isConnection = false) =>
  costOf(costTable[field], 10, given, isConnection)

test.each<[string, string, Record<string, unknown>, boolean, number]>([
  ['a plain field', 'CiStage.jobs', { first: 100 }, true, 11],
  ['one that reads a repository', 'DetailedStatus.label', {}, false, 12],
  ['a lookup', 'Query.project', { fullPath: 'a' }, false, 11],
  ['a connection of 100', 'Query.users', {}, true, 22],
  ['of one', 'Query.users', { first: 1 }, true, 11],
  ['of none', 'Query.users', { first: 0 }, true, 11],
  ['a search', 'Query.users', { search: 'a', first: 0 }, true, 16],
  ['one that is null', 'Query.users', { search: null, first: 0 }, true, 11],
  ['an order', 'Project.issues', { sort: 'created_desc', first: 0 }, true, 12],
  ['labels', 'Project.issues', { sort: 'created_desc', labelName: ['a'], first: 0 }, true, 14],
  ['by iid, whatever the size', 'Project.issues', { sort: 'created_desc', iid: '1' }, true, 12],
  ['by iids', 'Project.mergeRequests', { sort: 'created_desc', iids: ['1'], first: 50 }, true, 12],
  ['pipelines of a ref and a commit', 'Project.pipelines', { ref: 'main', sha: 'a', first: 0 }, true, 15],
  ['a pipeline that is named', 'Project.pipeline', { iid: '1' }, false, 2],
])('%s: %s(%j)', (_, field, given, isConnection, expected) => {
  expect(cost(field, given, isConnection)).toBe(expected)
})
