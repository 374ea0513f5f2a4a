/** A finished pipeline of three seconds with one job, as a line of NDJSON. */
export function hookLine(id: number, { status = 'success', ...more }: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    object_kind: 'pipeline',
    object_attributes: {
      id,
      ref: 'main',
      status,
      created_at: '2026-02-11 09:20:14 UTC',
      finished_at: status === 'running' ? null : '2026-02-11 09:20:17 UTC',
      duration: 3,
      ...more,
    },
    project: { id: 42, name: 'tide-tables', web_url: 'https://ci.example.com/harbour/tide-tables' },
    builds: [
      {
        id: id * 10,
        stage: 'build',
        name: 'compile',
        status: 'success',
        created_at: '2026-02-11 09:20:14 UTC',
        started_at: '2026-02-11 09:20:15 UTC',
        finished_at: '2026-02-11 09:20:17 UTC',
        duration: 2,
      },
    ],
  })
}

export const ndjson = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
