// The entry point of the thread that decodes and writes.
import { isUnavailable } from '@penstock/db'
import { type Log, systemClock } from '@penstock/runtime'
import type { ObserveLimits } from '../store/observe-limits.ts'
import type { Receipt, ReceivedRequest } from '../store/received-request.ts'
import { openStoreWriter } from '../store/store-writer.ts'
import { serveThread } from './thread-messages.ts'

export interface ThreadData {
  readonly file: string
  readonly limits: ObserveLimits
}

serveThread<ThreadData, ReceivedRequest, Receipt>(({ file, limits }: ThreadData, log: Log) => {
  const writer = openStoreWriter({ file, limits, clock: systemClock, log })
  return {
    answer: (received) => writer.receive(received),
    isUnavailable,
    transferred: () => [],
    close: () => writer.close(),
  }
})
