import type { GraphQLObjectType } from 'graphql'
import { expect, test } from 'vitest'
import type { Cost } from '../schema/cost.ts'
import { createSchema } from '../schema.ts'
import { costOf } from './complexity.ts'

/** Returns the cost of a field with children that cost 10. */
const cost = (field: string, args: Record<string, unknown>, isConnection = false) =>
  costOf(declaredCost(field), 10, args, isConnection)

const schema = createSchema({ serviceName: 'svc', externalUrl: 'https://forge.example.test' })

/** Returns the cost that a field of the schema declares. */
function declaredCost(path: string): Cost | undefined {
  const [type, field] = path.split('.') as [string, string]
  return (schema.getType(type) as GraphQLObjectType).getFields()[field]!.extensions.cost as Cost | undefined
}

test.each<[string, string, Record<string, unknown>, boolean, number]>([
  ['a plain field', 'CiStage.jobs', { first: 100 }, true, 11],
  ['a field that reads a repository', 'DetailedStatus.label', {}, false, 12],
  ['a lookup', 'Query.project', { fullPath: 'a' }, false, 11],
  ['a connection with the default page size', 'Query.users', {}, true, 22],
  ['a connection with page size 1', 'Query.users', { first: 1 }, true, 11],
  ['a connection with page size 0', 'Query.users', { first: 0 }, true, 11],
  ['a connection with a search', 'Query.users', { search: 'a', first: 0 }, true, 16],
  ['a search that is null', 'Query.users', { search: null, first: 0 }, true, 11],
  ['a default sort', 'Project.issues', { sort: 'created_desc', first: 0 }, true, 12],
  ['a label filter', 'Project.issues', { sort: 'created_desc', labelName: ['a'], first: 0 }, true, 14],
  ['an iid, for which the page size is ignored', 'Project.issues', { sort: 'created_desc', iid: '1' }, true, 12],
  [
    'iids, for which the page size is ignored',
    'Project.mergeRequests',
    { sort: 'created_desc', iids: ['1'], first: 50 },
    true,
    12,
  ],
  ['pipelines of a ref and a commit', 'Project.pipelines', { ref: 'main', sha: 'a', first: 0 }, true, 15],
  ['a pipeline by its iid', 'Project.pipeline', { iid: '1' }, false, 2],
])('computes the cost of %s: %s(%j)', (_, field, args, isConnection, expected) => {
  expect(cost(field, args, isConnection)).toBe(expected)
})
