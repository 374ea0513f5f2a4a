interface RecordFields {
  readonly project?: unknown
  readonly pipelineId?: unknown
  readonly hookProject?: unknown
}

/** Returns the input of `putPipelineRecord` for a hook with these fields, which are in camel case. */
export function recordInput<Fields extends RecordFields>(fields: Fields): Fields & { readonly payload: string } {
  const { project: _, pipelineId, hookProject, ...hook } = fields
  return { ...fields, payload: JSON.stringify(inSnakeCase({ ...hook, project: hookProject })) }
}

function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), inSnakeCase(member)]))
}
