import { ClickHouseStore } from '@penstock/observe'
import type { Clock, Log } from '@penstock/runtime'
import type { Settings } from '../settings/setting-table.ts'
import type { Teardown } from './open-ingest.ts'

/** Opens the ClickHouse database that the settings name; `undefined` if they name none. */
export async function openClickHouse(
  settings: Pick<Settings, 'observe.url' | 'observe.createViews'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  teardown: Teardown,
): Promise<ClickHouseStore | undefined> {
  const address = settings['observe.url']
  if (address === undefined) return undefined
  const store = await ClickHouseStore.open({ address, createViews: settings['observe.createViews'], clock, log })
  teardown.push(() => store.close())
  return store
}
