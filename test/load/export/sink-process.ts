/**
 * An upstream in a separate process, so that its CPU time is not measured. This file has both sides: `startSink` runs it as a
 * script, and communicates with it over the IPC channel.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Upstream } from '../../export/upstream.ts'

export interface SinkCounts {
  /** The number of pairs of pipeline and signal, and of repeated acceptances. */
  readonly exports: number
  readonly again: number
  readonly requests: number
}

export interface Sink extends AsyncDisposable {
  readonly url: string
  counts(): Promise<SinkCounts>
}

const self = fileURLToPath(import.meta.url)

/** Starts a sink. @param port the port to listen on; 0 for a free one */
export async function startSink(port = 0): Promise<Sink> {
  const child = fork(self, [String(port)])
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    async counts() {
      child.send('counts')
      const [said] = (await once(child, 'message')) as [SinkCounts]
      return said
    },
    [Symbol.asyncDispose]: () => ended(child),
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
}

export const countsOf = ({ ledger, again, requests }: Upstream): SinkCounts => ({
  exports: ledger.size,
  again,
  requests: requests.accept,
})

if (process.argv[1] === self) {
  const upstream = await Upstream.start(Number(process.argv[2]))
  process.on('message', () => process.send!(countsOf(upstream)))
  process.once('disconnect', () => process.exit())
  process.send!({ url: upstream.url })
}
