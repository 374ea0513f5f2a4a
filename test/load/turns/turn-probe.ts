/** Loaded into the measured process with `--import`: measures the longest turn of its event loop between two messages. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 1
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delays.enable()

process.on('message', (message) => {
  if (message === 'reset') {
    delays.reset()
    process.send!('ready')
  }
  if (message === 'read') process.send!(Math.max(0, delays.max / 1e6 - RESOLUTION_MS))
})
// Its channel must not keep the process alive.
process.channel?.unref()
