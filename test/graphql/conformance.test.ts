import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { User } from '@penstock/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Comparison,
  globalComparisons,
  groupComparisons,
  pipelineComparisons,
  projectComparisons,
} from './comparisons.ts'
import { type Population, populate } from './populate.ts'
import { type Json, ServedWorld } from './served-world.ts'

const WORLD_COUNT = 2
/** The page size of GraphQL queries. REST returns all rows at once. */
const PAGE_SIZE = 3

/** The ids in order; `undefined` if the request is rejected or the object is missing. */
type Ids = readonly unknown[] | undefined

async function idsFromRest(
  served: ServedWorld,
  { rest, isList, restValue }: Comparison,
  as: User | undefined,
): Promise<Ids> {
  const path = isList ? `${rest}${rest.includes('?') ? '&' : '?'}per_page=100` : rest
  const { status, body } = await served.rest(path, as)
  if (status === 401 || status === 403 || status === 404) return undefined
  expect([rest, status]).toEqual([rest, 200])
  return (isList ? body : [body]).map(restValue ?? (({ id }: Json) => id))
}

async function idsFromGraphql(served: ServedWorld, comparison: Comparison, as: User | undefined): Promise<Ids> {
  const { within, field, args = '', isList, select = 'id' } = comparison
  const found: unknown[] = []
  for (let after: string | null = null; ; ) {
    const page = isList
      ? `(first: ${PAGE_SIZE} ${after === null ? '' : `after: ${JSON.stringify(after)}`} ${args})`
      : ''
    const inner = isList ? `{ nodes { ${select} } pageInfo { hasNextPage endCursor } }` : `{ ${select} }`
    const document = within.reduceRight((text, outer) => `{ ${outer} ${text} }`, `{ result: ${field}${page} ${inner} }`)
    const { body } = await served.graphql(document, as)
    expect([document, body.errors]).toEqual([document, undefined])
    let result = body.data
    for (const outer of within) result = result?.[outer.replace(/\(.*/s, '')]
    result = result?.result
    if (result == null) return undefined
    const rows: Json[] = isList ? result.nodes : [result]
    found.push(...rows.map((row) => idOf(row.user ?? row, select)))
    if (!isList || !result.pageInfo.hasNextPage) return found
    after = result.pageInfo.endCursor
  }
}

function idOf(row: Json, select: string): unknown {
  return ['key', 'sha', 'version'].includes(select) ? row[select] : Number(/(\d+)$/.exec(row.id)![1])
}

function isSame({ isUnordered }: Comparison, rest: Ids, graphql: Ids): boolean {
  const sorted = (ids: Ids) => (isUnordered ? ids?.toSorted() : ids)
  return JSON.stringify(sorted(rest)) === JSON.stringify(sorted(graphql))
}

const describeIds = (ids: Ids): string => (ids === undefined ? 'refused' : 'answered')

async function comparisonsIn(served: ServedWorld, { projects, groups, people }: Population): Promise<Comparison[]> {
  const pipelineLists = projects.map(async (project) => {
    const { body } = await served.rest(`/projects/${project.id}/pipelines`, people.administrator)
    return body.slice(0, 2).flatMap(({ id }: Json) => pipelineComparisons(project, id))
  })
  return [
    ...globalComparisons,
    ...projects.flatMap(projectComparisons),
    ...groups.flatMap(groupComparisons),
    ...(await Promise.all(pipelineLists)).flat(),
  ]
}

/** Returns the rows of the table in `docs/guides/graphql.md`: field, REST, GraphQL. */
function documentedDifferences(): string[][] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guides/graphql.md'), 'utf8')
  const section = page.split(/^## /m).find((part) => part.startsWith('Anonymous callers')) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \| (\w+)[^|]* \| (\w+)[^|]* \|$/gm)].map(
    ([, ...cells]) => cells as string[],
  )
}

test('REST and GraphQL return the same to each user; the table lists the differences for anonymous callers', {
  timeout: 600_000,
}, async () => {
  const differences = new Map<string, string[]>()
  await fc.assert(
    fc.asyncProperty(fc.record({ seed: fc.nat(), size: fc.integer({ min: 1, max: 7 }) }), async (plan) => {
      const served = await ServedWorld.start()
      try {
        const population = await populate(served, plan)
        const comparisons = await comparisonsIn(served, population)
        const different: unknown[] = []
        for (const caller of Object.values(population.people)) {
          for (const comparison of comparisons) {
            const rest = await idsFromRest(served, comparison, caller)
            const graphql = await idsFromGraphql(served, comparison, caller)
            // Ensures that the comparison is meaningful: administrators may read every list.
            if (comparison.isList && caller.isAdministrator)
              expect([comparison.name, rest]).toEqual([comparison.name, expect.any(Array)])
            if (!isSame(comparison, rest, graphql)) different.push([caller.username, comparison.name, rest, graphql])
          }
        }
        expect(different).toEqual([])
        for (const comparison of comparisons) {
          const [rest, graphql] = [
            await idsFromRest(served, comparison, undefined),
            await idsFromGraphql(served, comparison, undefined),
          ]
          const name = comparison.name.split(/[ ,]/)[0]!
          if (isSame(comparison, rest, graphql)) continue
          // Only rejections may differ.
          if (rest !== undefined && graphql !== undefined) expect([name, graphql]).toEqual([name, rest])
          differences.set(name, [name, describeIds(rest), describeIds(graphql)])
        }
      } finally {
        await served.close()
      }
    }),
    { numRuns: WORLD_COUNT, seed: 20_260_203, endOnFailure: true },
  )
  expect([...differences.values()].sort()).toEqual(documentedDifferences().sort())
})
