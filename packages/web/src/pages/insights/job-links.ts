/** Returns the address of the runs of a range: those of a project and a ref, if they are given. */
export function runsAddress(
  range: { readonly since: string; readonly until: string },
  filters: Readonly<Partial<Record<'project' | 'ref' | 'service' | 'status' | 'job' | 'children', string | null>>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value != null && value !== '') query.set(name, value)
  query.set('since', range.since)
  query.set('until', range.until)
  return `/pipelines?${query}`
}

/** Returns the address of the runs of the range with a job, or of all runs of a project. */
export type RunsLink = (project: string | null, job?: string) => string

/** Returns the last segment of a project's path. */
export function shortProject(project: string | null): string {
  return project?.split('/').at(-1) ?? '–'
}
