import process from 'node:process'
import type { Log } from '@penstock/runtime'

/** Logs SIGHUP, which would otherwise end the process with requests in progress. Returns a function that ends this. */
export function ignoreHangup(log: Log): () => void {
  const onHangup = () =>
    log.warn(
      { event: 'signal.ignored', signal: 'SIGHUP' },
      'SIGHUP is ignored: settings are read only at the start, so restart the service to apply changes',
    )
  process.on('SIGHUP', onHangup)
  return () => void process.off('SIGHUP', onHangup)
}
