import { World } from '@penstock/testkit'

export interface StatementCount {
  readonly count: number
}

/** Counts what is read from a world's database from now on. */
export function countingStatements(world: World): StatementCount {
  const counted = { count: 0 }
  const { db } = world.core
  const read = db.read.withPlugin({
    // Called for every query within another one too.
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      counted.count += 1
      return result
    },
  })
  Object.assign(world.core, { db: { read, write: db.write.bind(db), close: db.close.bind(db) } })
  return counted
}

/** A world that tells how many statements some work asks of its database. */
export async function countedWorld(): Promise<{
  readonly world: World
  readonly statements: (work: () => Promise<unknown>) => Promise<number>
}> {
  const world = await World.open()
  const counted = countingStatements(world)
  return {
    world,
    statements: async (work) => {
      const before = counted.count
      await work()
      return counted.count - before
    },
  }
}
