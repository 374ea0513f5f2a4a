import type { RunningGateway } from './running-gateway.ts'

/** Returns the lines of `/metrics` that begin with the prefix. */
export async function metricLines({ managementUrl }: RunningGateway, prefix: string): Promise<string[]> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(prefix))
}

/** Returns the log lines of an event. */
// biome-ignore lint/suspicious/noExplicitAny: lines of JSON
export function logged(gateway: RunningGateway, event: string): any[] {
  return gateway
    .logs()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => line.event === event)
}
