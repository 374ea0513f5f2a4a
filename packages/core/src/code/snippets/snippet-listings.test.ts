import { World } from '@penstock/testkit'
import { CompiledQuery, createQueryId, type KyselyPlugin, SqliteAdapter } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { User } from '../../base/model/user.ts'
import { perform } from '../../base/operations/perform.ts'
import { browseSnippets } from './snippet-listings.ts'

let world: World
let mira: User

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  const tools = await world.project('tools', mira, 'public')
  const rows = Array.from({ length: 30 }, (_, index) => ({
    ...{ id: index + 1, title: 'Notes', description: null, files: '[]', created_at_ms: 1, updated_at_ms: 1 },
    project_id: index % 2 === 0 ? null : tools.id,
    author_id: mira.id,
    visibility: index < 3 ? ('public' as const) : ('private' as const),
  }))
  await world.core.db.write((db) => db.insertInto('snippets').values(rows).execute())
})

afterEach(() => world.close())

const filters = [
  [{}, [3, 2, 1], 'visibility=?'],
  [{ visibility: 'public' }, [3, 2, 1], 'visibility=?'],
  [{ type: 'personal' }, [3, 1], 'visibility=? AND project_id=?'],
  [{ type: 'project' }, [2], 'visibility=?'],
  [{ explore: true }, [3, 1], 'visibility=? AND project_id=?'],
  [{ authorId: 1 }, [3, 2, 1], 'visibility=? AND author_id=?'],
  [{ projectId: 1 }, [2], 'visibility=? AND project_id=?'],
] as const

test.each(filters)('an anonymous list by %j reads only public snippets', async (filter, ids, searched) => {
  const { read } = world.core.db
  const executor = read.getExecutor()
  const queries: CompiledQuery[] = []
  const capture: KyselyPlugin = {
    transformQuery({ node }) {
      queries.push(executor.compileQuery(node, createQueryId()))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const core = { ...world.core, db: { ...world.core.db, read: read.withPlugin(capture) } }
  const { listing } = await perform(core, undefined, browseSnippets, filter)
  queries.length = 0
  const [page] = await listing.pages({ first: 10 })
  expect(page!.items.map(({ id }) => id)).toEqual(ids)
  // Only SQLite explains how it searches without statistics of the tables.
  if (!(executor.adapter instanceof SqliteAdapter)) return
  const [list] = queries
  const plan = await read.executeQuery<object>(
    CompiledQuery.raw(`explain query plan ${list!.sql}`, [...list!.parameters]),
  )
  expect(JSON.stringify(plan.rows)).toMatch(
    new RegExp(`SEARCH snippets USING INDEX \\w+ \\(${searched.replaceAll('?', '\\?')}`),
  )
})
