import {
  type Core,
  createApplication,
  createBroadcastMessage,
  listApplications,
  listBroadcastMessages,
  perform,
} from '@penstock/core'
import { operator } from '../core/core-operator.ts'
import { HOUR_MS } from './sample-commits.ts'

const APPLICATION = 'Locker map'
const MESSAGE = 'Mossgate is made up: change and delete whatever you like.'
/** How long the message is shown. */
const SHOWN_MS = 30 * 24 * HOUR_MS

/** Creates an OAuth application, and a broadcast message on the pages of the core. They belong to no group. */
export async function addToInstance(core: Core, nowMs: number): Promise<void> {
  const applications = await perform(core, operator, listApplications, {})
  if (!applications.some(({ name }) => name === APPLICATION)) {
    const draft = { name: APPLICATION, redirectUri: 'http://127.0.0.1:9292/callback', scopes: 'read_api' }
    await perform(core, operator, createApplication, draft)
  }
  const { items } = await perform(core, operator, listBroadcastMessages, { perPage: 100 })
  if (!items.some(({ message }) => message === MESSAGE)) {
    await perform(core, operator, createBroadcastMessage, {
      message: MESSAGE,
      endsAt: new Date(nowMs + SHOWN_MS).toISOString(),
      theme: 'light-blue',
      dismissable: true,
    })
  }
}
