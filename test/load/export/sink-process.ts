/**
 * An upstream in a process of its own, so that what is measured is not what counts. This file is both sides: `startSink` runs it
 * as a script, and asks it over the channel between them.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Upstream } from '../../export/upstream.ts'

export interface SinkCounts {
  /** Pairs of pipeline and signal, and how many further times they were accepted. */
  readonly exports: number
  readonly again: number
  readonly requests: number
}

export interface Sink extends AsyncDisposable {
  readonly url: string
  counts(): Promise<SinkCounts>
}

const self = fileURLToPath(import.meta.url)

/** @param port any that is free, unless it has to be a certain one */
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
