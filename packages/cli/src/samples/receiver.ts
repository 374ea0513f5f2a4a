import {
  type Actor,
  type Core,
  createHook,
  listHooks,
  perform,
  settingOf,
  updateApplicationSettings,
} from '@penstock/core'
import { operator } from '../core/core-operator.ts'
import { DEFAULT_RECEIVER } from '../settings/default-receiver.ts'
import { SHOWN_PROJECT } from './company.ts'

/** The webhook does not want pipelines, because nothing receives those that are recorded at the start. */
const events = { pushEvents: false, issuesEvents: true, noteEvents: true, mergeRequestsEvents: true, emojiEvents: true }

/**
 * Creates a webhook to the receiver that `penstock hooks receive` starts, and allows requests to it, and to nothing else on
 * this machine.
 */
export async function addReceiver(core: Core, founder: Actor): Promise<void> {
  const project = SHOWN_PROJECT
  const { items } = await perform(core, founder, listHooks, { project })
  if (items.length > 0) return
  const allowed = await settingOf(core, 'outbound_local_requests_whitelist')
  if (!allowed.includes(DEFAULT_RECEIVER)) {
    await perform(core, operator, updateApplicationSettings, {
      outbound_local_requests_whitelist: [...allowed, DEFAULT_RECEIVER],
    })
  }
  await perform(core, founder, createHook, { project, name: 'Receiver', url: `http://${DEFAULT_RECEIVER}/`, ...events })
}
