import { join } from 'node:path'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { forgeToken, pipelinesIn } from './scripted-forge.ts'
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
