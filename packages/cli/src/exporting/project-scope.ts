/** What the exporter knows the pipelines of a project of the core under. */
export const projectScope = (projectId: number): string => `project:${projectId}`

/** The id of the project whose scope it is; undefined for scopes of other kinds. */
export function projectIdOf(scope: string): number | undefined {
  const id = /^project:(\d+)$/.exec(scope)?.[1]
  return id === undefined ? undefined : Number(id)
}
