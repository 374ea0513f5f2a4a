import type { RunningGateway } from './running-gateway.ts'

/** The lines of `/metrics` that begin so. */
export async function metricLines({ managementUrl }: RunningGateway, beginning: string): Promise<string[]> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(beginning))
}

/** What has been logged of an event. */
// biome-ignore lint/suspicious/noExplicitAny: lines of JSON
export function logged(gateway: RunningGateway, event: string): any[] {
  return gateway
    .logs()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => line.event === event)
}
