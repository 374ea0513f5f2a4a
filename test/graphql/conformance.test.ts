import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { User } from '@penstock/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Population, populate } from './populate.ts'
import { type Question, questionsOf, questionsOfAll, questionsOfGroup, questionsOfPipeline } from './questions.ts'
import { type Json, ServedWorld } from './served-world.ts'

const WORLDS = 2
/** Of the pages that GraphQL is asked for; REST tells all at once. */
const PAGE = 3

/** Ids in their order; `undefined`: refused, or not there. */
type Told = readonly unknown[] | undefined

async function toldByRest(
  served: ServedWorld,
  { rest, isList, ofRest }: Question,
  as: User | undefined,
): Promise<Told> {
  const path = isList ? `${rest}${rest.includes('?') ? '&' : '?'}per_page=100` : rest
  const { status, body } = await served.rest(path, as)
  if (status === 401 || status === 403 || status === 404) return undefined
  expect([rest, status]).toEqual([rest, 200])
  return (isList ? body : [body]).map(ofRest ?? (({ id }: Json) => id))
}

async function toldByGraphql(served: ServedWorld, question: Question, as: User | undefined): Promise<Told> {
  const { within, field, args = '', isList, select = 'id' } = question
  const found: unknown[] = []
  for (let after: string | null = null; ; ) {
    const page = isList ? `(first: ${PAGE} ${after === null ? '' : `after: ${JSON.stringify(after)}`} ${args})` : ''
    const inner = isList ? `{ nodes { ${select} } pageInfo { hasNextPage endCursor } }` : `{ ${select} }`
    const document = within.reduceRight((text, outer) => `{ ${outer} ${text} }`, `{ wanted: ${field}${page} ${inner} }`)
    const { body } = await served.graphql(document, as)
    expect([document, body.errors]).toEqual([document, undefined])
    let wanted = body.data
    for (const outer of within) wanted = wanted?.[outer.replace(/\(.*/s, '')]
    wanted = wanted?.wanted
    if (wanted == null) return undefined
    const rows: Json[] = isList ? wanted.nodes : [wanted]
    found.push(...rows.map((row) => idOf(row.user ?? row, select)))
    if (!isList || !wanted.pageInfo.hasNextPage) return found
    after = wanted.pageInfo.endCursor
  }
}

function idOf(row: Json, select: string): unknown {
  return ['key', 'sha', 'version'].includes(select) ? row[select] : Number(/(\d+)$/.exec(row.id)![1])
}

function isSame({ isUnordered }: Question, rest: Told, graphql: Told): boolean {
  const inOrder = (told: Told) => (isUnordered ? told?.toSorted() : told)
  return JSON.stringify(inOrder(rest)) === JSON.stringify(inOrder(graphql))
}

const describeTold = (told: Told): string => (told === undefined ? 'refused' : 'answered')

async function questionsIn(served: ServedWorld, { projects, groups, people }: Population): Promise<Question[]> {
  const ofPipelines = projects.map(async (project) => {
    const { body } = await served.rest(`/projects/${project.id}/pipelines`, people.administrator)
    return body.slice(0, 2).flatMap(({ id }: Json) => questionsOfPipeline(project, id))
  })
  return [
    ...questionsOfAll,
    ...projects.flatMap(questionsOf),
    ...groups.flatMap(questionsOfGroup),
    ...(await Promise.all(ofPipelines)).flat(),
  ]
}

/** The rows of the page's table: question, REST, GraphQL. */
function documented(): string[][] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/graphql.md'), 'utf8')
  const section = page.split(/^## /m).find((part) => part.startsWith('Anonymous callers')) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \| (\w+)[^|]* \| (\w+)[^|]* \|$/gm)].map(
    ([, ...cells]) => cells as string[],
  )
}

test('REST and GraphQL tell each user the same; of an anonymous caller the table lists the questions in which they differ', {
  timeout: 600_000,
}, async () => {
  const differences = new Map<string, string[]>()
  await fc.assert(
    fc.asyncProperty(fc.record({ seed: fc.nat(), size: fc.integer({ min: 1, max: 7 }) }), async (plan) => {
      const served = await ServedWorld.start()
      try {
        const population = await populate(served, plan)
        const questions = await questionsIn(served, population)
        const different: unknown[] = []
        for (const caller of Object.values(population.people)) {
          for (const question of questions) {
            const rest = await toldByRest(served, question, caller)
            const graphql = await toldByGraphql(served, question, caller)
            // Whoever may see all is refused no list: the questions do ask.
            if (question.isList && caller.isAdministrator)
              expect([question.name, rest]).toEqual([question.name, expect.any(Array)])
            if (!isSame(question, rest, graphql)) different.push([caller.username, question.name, rest, graphql])
          }
        }
        expect(different).toEqual([])
        for (const question of questions) {
          const [rest, graphql] = [
            await toldByRest(served, question, undefined),
            await toldByGraphql(served, question, undefined),
          ]
          const name = question.name.split(/[ ,]/)[0]!
          if (isSame(question, rest, graphql)) continue
          // What both tell is the same.
          if (rest !== undefined && graphql !== undefined) expect([name, graphql]).toEqual([name, rest])
          differences.set(name, [name, describeTold(rest), describeTold(graphql)])
        }
      } finally {
        await served.close()
      }
    }),
    { numRuns: WORLDS, seed: 20_260_203, endOnFailure: true },
  )
  expect([...differences.values()].sort()).toEqual(documented().sort())
})
