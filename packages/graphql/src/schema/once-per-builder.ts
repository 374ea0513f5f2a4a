import type { Kit } from './kit.ts'
import type { Builder } from './schema-types.ts'

/** Defines types that several areas share. The first area that needs them defines them, and the others get the same types. */
export function oncePerBuilder<Types extends object>(
  define: (builder: Builder) => Types,
): (kit: Pick<Kit, 'builder'>) => Types {
  const typesByBuilder = new WeakMap<Builder, Types>()
  return ({ builder }) => {
    const types = typesByBuilder.get(builder) ?? define(builder)
    typesByBuilder.set(builder, types)
    return types
  }
}
