import { type Signal, signals } from '@penstock/otlp'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import type { Outcome } from '../command-line.ts'

export const accepted = { play: 'reply', status: 200 } as const satisfies ScriptedReply

export async function receiver(
  script: Parameters<typeof ScriptedServer.start>[0] = () => accepted,
): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

export const bySignal = (replies: Partial<Record<Signal, ScriptedReply>>) => (request: RecordedRequest) =>
  replies[signalOf(request)] ?? accepted

export function signalOf({ path }: RecordedRequest): Signal {
  return (Object.keys(signals) as Signal[]).find((signal) => path.endsWith(signals[signal].httpPath)) ?? 'traces'
}

export const paths = (server: ScriptedServer): string[] => server.requests.map((request) => request.path).sort()

/** Returns the rows of the table: signal → columns. */
export function tableOf({ stdout }: Outcome): Record<string, string[]> {
  const rows = stdout
    .split('\n')
    .map((line) => line.split(/ {2,}/))
    .filter(([first]) => first !== undefined && /^(?:traces|metrics|logs)$/.test(first))
  return Object.fromEntries(rows.map(([signal = '', ...cells]) => [signal, cells]))
}
