import type { Kit } from './kit.ts'
import type { Builder } from './schema-types.ts'

/** Types that several areas use: defined by the first that asks, and given to the others of the same schema. */
export function oncePerBuilder<Made extends object>(
  define: (builder: Builder) => Made,
): (kit: Pick<Kit, 'builder'>) => Made {
  const madeFor = new WeakMap<Builder, Made>()
  return ({ builder }) => {
    const made = madeFor.get(builder) ?? define(builder)
    madeFor.set(builder, made)
    return made
  }
}
