/** Returns the scope of a project's pipelines in the exporter. */
export const projectScope = (projectId: number): string => `project:${projectId}`

/** Returns the id of the project with this scope; undefined for other kinds of scopes. */
export function projectIdOf(scope: string): number | undefined {
  const id = /^project:(\d+)$/.exec(scope)?.[1]
  return id === undefined ? undefined : Number(id)
}
