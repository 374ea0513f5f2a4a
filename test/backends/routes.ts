import { join } from 'node:path'
import { startCollector } from '../collector/collector.ts'

/** The ways from Penstock to a backend. */
export const routes = ['directly', 'through a collector'] as const
export type Route = (typeof routes)[number]

/** An endpoint to export to, and what must be stopped afterwards. */
export interface Way {
  readonly endpoint: string
  stop(): Promise<void>
}

/** Opens a way to a backend. `config` is a file of collector-config, and `variable` sets the endpoint in it. */
export async function openWay(
  route: Route,
  { endpoint, config, variable }: { readonly endpoint: string; readonly config: string; readonly variable: string },
): Promise<Way> {
  if (route === 'directly') return { endpoint, stop: async () => {} }
  const file = join(import.meta.dirname, '../../collector-config', config)
  const collector = await startCollector({ config: { file }, env: { [variable]: endpoint } })
  return { endpoint: collector.httpEndpoint, stop: () => collector.stop() }
}
