/** Returns the address of the runs of a range: those of a project and a ref, if they are given. */
export function runsAddress(
  range: { readonly since: string; readonly until: string },
  filters: { readonly project?: string | null; readonly ref?: string | null; readonly status?: string },
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) if (value != null && value !== '') query.set(name, value)
  query.set('since', range.since)
  query.set('until', range.until)
  return `/pipelines?${query}`
}

/** Returns the last segment of a project's path. */
export function shortProject(project: string | null): string {
  return project?.split('/').at(-1) ?? '–'
}
