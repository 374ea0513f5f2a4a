import { type Clock, systemClock } from '@penstock/runtime'
import { onTestFinished } from 'vitest'
import { Interrupted } from '../../packages/cli/src/process/environment.ts'
import { type Outcome, penstock, Sink } from '../command-line.ts'

export interface Serving {
  readonly stdout: Sink
  readonly managementUrl: string
  end(): Promise<Outcome>
}

export const freePorts = {
  PENSTOCK_CORE_LISTEN: '127.0.0.1:0',
  PENSTOCK_OBS_LISTEN: '127.0.0.1:0',
  PENSTOCK_OTLP_HTTP_LISTEN: '127.0.0.1:0',
  PENSTOCK_OTLP_GRPC_LISTEN: '127.0.0.1:0',
}

/**
 * Runs `penstock serve` within this process until the end of the test, or until the caller ends it. Resolves when it has
 * printed its addresses.
 */
export async function serving(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { endsWithTest = true, clock = systemClock }: { readonly endsWithTest?: boolean; readonly clock?: Clock } = {},
): Promise<Serving> {
  const stop = new AbortController()
  const stdout = new Sink()
  const said = new Promise<undefined>((resolve) => stdout.onWrite(() => resolve(undefined)))
  const run = penstock(['serve', ...args], { env: { ...freePorts, ...env }, stdout, clock, signal: stop.signal })
  const end = () => {
    stop.abort(new Interrupted('SIGINT'))
    return run
  }
  if (endsWithTest) onTestFinished(() => void end())
  const ended = await Promise.race([said, run])
  if (ended !== undefined) throw new Error(`it did not start: ${ended.stderr}`)
  return { stdout, managementUrl: /are on (http:\S+)\.\n/.exec(stdout.text)![1]!, end }
}
