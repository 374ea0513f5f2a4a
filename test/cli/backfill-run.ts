import { join } from 'node:path'
import { decodeRequest, type Span } from '@penstock/otlp'
import type { ManualClock } from '@penstock/testkit'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { forgeToken, pipelinesIn, ScriptedForge } from './scripted-forge.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export const accepted: ScriptedReply = { play: 'reply', status: 200 }

export async function receiver(script: Parameters<typeof ScriptedServer.start>[0] = () => accepted) {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

export async function stateFile(): Promise<string> {
  const directory = await temporaryDirectory()
  onTestFinished(() => directory[Symbol.asyncDispose]())
  return join(directory.path, 'state')
}

export interface Backfill {
  /** The project. Default: ops/tools. */
  readonly project?: string
  readonly from: string
  readonly endpoint: string
  readonly state: string
  readonly flags?: readonly string[]
  readonly world?: Parameters<typeof penstock>[1]
}

/** Runs `penstock backfill` for one project. */
export function backfill({ project = 'ops/tools', flags = [], world = {}, ...where }: Backfill): Promise<Outcome> {
  const { from, endpoint, state } = where
  const args = ['--from', from, '--project', project, '--endpoint', endpoint, '--state-file', state]
  return penstock(['backfill', ...args, ...flags], { env: { PENSTOCK_FORGE_TOKEN: forgeToken }, ...world })
}

/** Returns the ids of the pipelines with received traces, in order of arrival. */
export const tracesOf = (requests: readonly RecordedRequest[]): string[] => requests.flatMap(pipelinesIn)

export const upTo = (count: number): { id: number }[] => Array.from({ length: count }, (_, at) => ({ id: at + 1 }))
export const idsUpTo = (count: number): string[] => upTo(count).map(({ id }) => String(id))

export const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''
/** Sends traces only, one after the other. */
export const traces = ['--signals', 'traces', '--concurrency', '1']

/** Starts a forge with these pipelines and a receiver, and returns them with the options of a run. */
export async function setting(...[pipelines, pagination]: Parameters<typeof ScriptedForge.start>) {
  const forge = await ScriptedForge.start(pipelines, pagination)
  const server = await receiver()
  return { forge, server, run: { from: forge.server.url, endpoint: server.url, state: await stateFile() } }
}

/** Returns the environment of a run with the token of the forge. */
export const worldWith = (clock: ManualClock) => ({ clock, env: { PENSTOCK_FORGE_TOKEN: forgeToken } })

/** Returns the spans of all requests, in order of arrival. */
export function spansIn(requests: readonly RecordedRequest[]): Span[] {
  return requests.flatMap(({ body }) =>
    decodeRequest('traces', body, 'protobuf').resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items)),
  )
}
