import type { Encoding, Signal } from '@penstock/otlp'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import { itemsIn } from './telemetry.ts'

const accepted: ScriptedReply = { play: 'reply', status: 200, headers: { 'content-type': 'application/x-protobuf' } }

/** An OTLP/HTTP backend with a script; by default it takes everything. Ends with the test. */
export async function startSink(
  script: readonly ScriptedReply[] | ((request: RecordedRequest, index: number) => ScriptedReply) = () => accepted,
): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

export const accept = (): ScriptedReply => accepted

/** Items of a request the sink has received, see `itemsIn`. */
export function itemsOf({ body, path, headers }: RecordedRequest): string[] {
  const encoding: Encoding = headers['content-type'] === 'application/json' ? 'json' : 'protobuf'
  return itemsIn(body, encoding, path.split('/').at(-1) as Signal)
}
