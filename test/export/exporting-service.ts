import { CoreProcess } from '../core/core-process.ts'

export const signals = ['traces', 'metrics', 'logs'] as const
/** A source outside the core. */
export const SOURCE = 'forge'
export const SOURCE_SECRET = 'secret-of-the-forge'
export const tokens = { project: 'token-of-the-project', source: 'token-of-the-source' }

export interface ServiceOptions {
  /** The URL of PostgreSQL; without it, SQLite in the directory. */
  readonly databaseUrl?: string | undefined
  /** The timeout of one attempt. Default: that of the service. */
  readonly attemptSeconds?: number
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a core that accepts records and hooks of the source, and exports them to the endpoint. */
export function startService(
  dataDir: string,
  endpoint: string,
  { databaseUrl, attemptSeconds, env }: ServiceOptions = {},
): Promise<CoreProcess> {
  const source = { secretToken: SOURCE_SECRET, signals, endpoint, token: tokens.source }
  return CoreProcess.start(dataDir, {
    databaseUrl,
    env: {
      // Pipeline ids depend on this host; the port differs after each restart.
      PENSTOCK_EXTERNAL_URL: 'https://ci.example.com',
      PENSTOCK_EXPORT_ENDPOINT: endpoint,
      PENSTOCK_SOURCES: JSON.stringify({ [SOURCE]: source }),
      ...env,
      ...(attemptSeconds !== undefined && { PENSTOCK_EXPORT_TIMEOUT_SECONDS: String(attemptSeconds) }),
    },
  })
}

/** Creates a project with exports of all signals, and returns its id. */
export async function exportedProject(core: CoreProcess): Promise<number> {
  const { id } = await core.must('POST', '/projects', { name: 'work', path: 'work' })
  const variable = (key: string, value: string) => core.must('POST', `/projects/${id}/variables`, { key, value })
  await variable('SVC_OBSERVABILITY_EXPORT', signals.join(','))
  await variable('SVC_OBSERVABILITY_TOKEN', tokens.project)
  return id
}
