import { Interrupted } from '../process/environment.ts'
import type { Settings } from '../settings/setting-table.ts'

/** Returns how long a process that was interrupted keeps its ports open while it reports not ready: not at all after SIGINT. */
export const drainDelayMs = (settings: Settings, { reason }: AbortSignal): number =>
  reason instanceof Interrupted && reason.by === 'SIGINT' ? 0 : settings['gateway.drainDelayMs']
