export type RefType = 'HEADS' | 'TAGS'

const refKinds = { HEADS: 'heads', TAGS: 'tags' } as const

/** Returns the core's name of a ref type. */
export const kindOf = (type: RefType | null | undefined): 'heads' | 'tags' | undefined =>
  type == null ? undefined : refKinds[type]
