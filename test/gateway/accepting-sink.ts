import type { Encoding, Signal } from '@penstock/otlp'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import { itemsIn } from './telemetry.ts'

const accepted: ScriptedReply = { play: 'reply', status: 200, headers: { 'content-type': 'application/x-protobuf' } }

/** Starts an OTLP/HTTP backend that follows a script, and by default accepts everything. It is closed when the test ends. */
export async function startSink(
  script: readonly ScriptedReply[] | ((request: RecordedRequest, index: number) => ScriptedReply) = () => accepted,
): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

export const accept = (): ScriptedReply => accepted

/** Returns the items of a request that the sink has received; see `itemsIn`. */
export function itemsOf({ body, path, headers }: RecordedRequest): string[] {
  const encoding: Encoding = headers['content-type'] === 'application/json' ? 'json' : 'protobuf'
  return itemsIn(body, encoding, path.split('/').at(-1) as Signal)
}
