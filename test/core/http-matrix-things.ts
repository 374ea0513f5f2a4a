import type { MatrixServer } from './http-matrix-server.ts'
import { type Maker, matrixAreas, type ThingContext, type Values } from './matrix-area.ts'

/** How each thing is created, by its name in `needs`. */
export const allMakers: Readonly<Record<string, Maker>> = Object.assign(
  {},
  ...(await matrixAreas()).map(({ things }) => things),
)

/** The things that are only read, by parent and thing, which are created once. */
const cache = new WeakMap<MatrixServer, Map<string, Promise<Values>>>()

export async function valuesFor(
  things: readonly string[],
  context: ThingContext,
  { once }: { readonly once: boolean },
): Promise<Values> {
  const known = cache.get(context.server) ?? new Map<string, Promise<Values>>()
  cache.set(context.server, known)
  const all: Values[] = []
  for (const thing of things) {
    const { parent, caller } = context
    const key = `${thing} ${thing.startsWith('own ') ? `user ${caller.id}` : `${parent?.kind} ${parent?.id}`}`
    const values = (once ? known.get(key) : undefined) ?? allMakers[thing]!(context)
    if (once) known.set(key, values)
    all.push(await values)
  }
  return Object.assign({}, ...all) as Values
}
