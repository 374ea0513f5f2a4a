import { freePort } from '../collector/free-port.ts'
import { type Backend, startBackend } from './backend.ts'

/** A stored record: every field is a text. */
export type LogRow = Readonly<Record<string, string>>

export interface VictoriaLogs extends Backend {
  /** The base URL of its OTLP/HTTP receiver. */
  readonly otlpUrl: string
  /** Returns the rows that a query in LogsQL finds, whatever their time. */
  query(query: string): Promise<LogRow[]>
}

/** Starts VictoriaLogs with the flags of collector-config/victoria-logs.yaml and a retention in days. */
export async function startVictoriaLogs({ retentionDays }: { readonly retentionDays: number }): Promise<VictoriaLogs> {
  const address = `127.0.0.1:${await freePort()}`
  const url = `http://${address}`
  const backend = await startBackend('victoria-logs', {
    args: (directory) => [
      `-httpListenAddr=${address}`,
      `-storageDataPath=${directory}/data`,
      `-retentionPeriod=${retentionDays}d`,
    ],
    readyUrl: `${url}/health`,
  })
  return {
    ...backend,
    otlpUrl: `${url}/insert/opentelemetry`,
    async query(query) {
      // Rows can be read when they have been written to the storage, which happens every second.
      await fetch(`${url}/internal/force_flush`)
      const response = await fetch(`${url}/select/logsql/query`, {
        method: 'POST',
        body: new URLSearchParams({ query }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${query}: ${text}`)
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LogRow)
    },
  }
}
