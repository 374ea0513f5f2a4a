import { CoreProcess } from '../core/core-process.ts'

export const signals = ['traces', 'metrics', 'logs'] as const
/** A source outside the core. */
export const SOURCE = 'forge'
export const SOURCE_SECRET = 'secret-of-the-forge'
export const tokens = { project: 'token-of-the-project', source: 'token-of-the-source' }

export interface ServiceOptions {
  /** Of PostgreSQL; without it, SQLite in the directory. */
  readonly databaseUrl?: string | undefined
  /** Default: that of the service. */
  readonly attemptSeconds?: number
}

/** Takes records in, from the source by its hooks, and exports them to the endpoint. */
export function startService(
  dataDir: string,
  endpoint: string,
  { databaseUrl, attemptSeconds }: ServiceOptions = {},
): Promise<CoreProcess> {
  const source = { secretToken: SOURCE_SECRET, signals, endpoint, token: tokens.source }
  return CoreProcess.start(dataDir, {
    databaseUrl,
    env: {
      // Its host is part of what pipelines are known by; the port is another one in each life.
      PENSTOCK_EXTERNAL_URL: 'https://ci.example.com',
      PENSTOCK_EXPORT_ENDPOINT: endpoint,
      PENSTOCK_SOURCES: JSON.stringify({ [SOURCE]: source }),
      ...(attemptSeconds !== undefined && { PENSTOCK_EXPORT_TIMEOUT_SECONDS: String(attemptSeconds) }),
    },
  })
}

/** Id of a new project whose pipelines are exported in all signals. */
export async function exportedProject(core: CoreProcess): Promise<number> {
  const { id } = await core.must('POST', '/projects', { name: 'work', path: 'work' })
  const variable = (key: string, value: string) => core.must('POST', `/projects/${id}/variables`, { key, value })
  await variable('SVC_OBSERVABILITY_EXPORT', signals.join(','))
  await variable('SVC_OBSERVABILITY_TOKEN', tokens.project)
  return id
}
