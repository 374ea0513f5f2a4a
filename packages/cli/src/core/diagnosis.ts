import { accessSync, constants, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pendingCoreMigrations } from '@penstock/core'
import { type Db, openReadOnly } from '@penstock/db'
import { DeliveryQueue } from '@penstock/delivery'
import { destinationOfLane, EXPORT_QUEUE, exporterMigrations, findStraySource, type Sources } from '@penstock/exporter'
import type { ListenAddress } from '@penstock/gateway'
import { directoryAccess, listOpenEntries } from '../data-directory.ts'
import { UsageError } from '../environment.ts'
import { exportConfig, gatewayUrl } from '../exporting/export-config.ts'
import type { Settings } from '../serve/setting-table.ts'
import { databaseReason } from '../serve/start-error.ts'
import { counted, formatCount } from '../wording.ts'
import { type CoreDatabaseTables, coreDatabase } from './open-core.ts'

export interface Finding {
  readonly grade: 'ok' | 'note' | 'wrong'
  readonly what: string
  /** What to do about it. */
  readonly remedy?: string
}

/** Of the queue that are looked at, and sources that are named of them: what is mended gives way to the next. */
const LANES = 10_000
const STRAY_SOURCES = 20

/** Nothing is changed by asking. In the order in which a start would stumble over them. */
export async function diagnose(settings: Settings): Promise<Finding[]> {
  return [
    directoryFinding(settings.dataDir),
    ...entryFindings(settings.dataDir),
    ...(await databaseFindings(settings)),
    ...exportFindings(settings),
    await portFinding('core.listen', settings['core.listen']),
    await portFinding('observability.listen', settings['observability.listen']),
    ...(await Promise.all(settings['gateway.http'].map((address) => portFinding('gateway.http', address)))),
    ...(await Promise.all(settings['gateway.grpc'].map((address) => portFinding('gateway.grpc', address)))),
    urlFinding(settings),
  ]
}

function directoryFinding(dataDir: string): Finding {
  if (!existsSync(dataDir)) return { grade: 'note', what: `${dataDir} does not exist yet; the first start makes it` }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return {
      grade: 'wrong',
      what: `${dataDir} cannot be written`,
      remedy: `give it to the user that runs penstock, or set PENSTOCK_DATA_DIR`,
    }
  }
  const access = directoryAccess(dataDir)
  switch (access.kind) {
    case 'closed':
      return { grade: 'ok', what: `${dataDir} can be written` }
    case 'closable':
      return { grade: 'note', what: `other users can list ${dataDir}; the next start closes it` }
    case 'open': {
      const what = `other users can list ${dataDir}: it stays as it is because ${access.why}`
      return { grade: 'note', what, remedy: `chmod 700 ${dataDir}` }
    }
    case 'writable':
      return { grade: 'wrong', what: access.problem, remedy: access.remedy }
  }
}

function entryFindings(dataDir: string): Finding[] {
  const open = listOpenEntries(dataDir)
  const closedKeys = ['pepper', 'secrets.key'].filter(
    (name) => existsSync(join(dataDir, name)) && !open.some((entry) => entry.name === name),
  )
  return [
    ...closedKeys.map((name): Finding => ({ grade: 'ok', what: `${join(dataDir, name)} belongs to its owner alone` })),
    ...open.map(
      ({ path, kind }): Finding => ({
        grade: 'wrong',
        what: `others on this machine may read ${path}`,
        remedy: `chmod ${kind === 'tree' ? 700 : 600} ${path}`,
      }),
    ),
  ]
}

async function databaseFindings(settings: Settings): Promise<Finding[]> {
  const { location, name } = coreDatabase(settings)
  if (settings.databaseUrl === undefined && !existsSync(location)) {
    return [{ grade: 'note', what: `there is no database ${name} yet; the first start makes it` }]
  }
  const opened = (async () => openReadOnly<CoreDatabaseTables>(location))()
  try {
    const db = await opened
    const pending = await pendingCoreMigrations(db, exporterMigrations)
    if (pending.length === 0) {
      const queue = queueOf(db)
      return [
        { grade: 'ok', what: `${name} is up to date` },
        await queueFinding(queue),
        ...(await strayFindings(queue, settings)),
      ]
    }
    const lack = `${name} lacks ${pending.join(', ')}; the next start, or penstock migrate, adds them`
    return [{ grade: 'note', what: lack }]
  } catch (error) {
    const what = `${name} cannot be used: ${databaseReason(error as Error)}`
    const remedy =
      settings.databaseUrl === undefined
        ? 'put back a backup, or start with another data directory'
        : 'is the server running, and are name and password right?'
    return [{ grade: 'wrong', what, remedy }]
  } finally {
    await opened.then((db) => db.close()).catch(() => {})
  }
}

function queueOf({ read, close }: Pick<Db<CoreDatabaseTables>, 'read' | 'close'>): DeliveryQueue {
  const write = () => Promise.reject(new Error('nothing is changed by asking'))
  return new DeliveryQueue({ read, close, write }, EXPORT_QUEUE)
}

/** Every process leaves alone what it has no settings for. */
async function strayFindings(queue: DeliveryQueue, settings: Settings): Promise<Finding[]> {
  const sources = configuredSources(settings)
  if (sources === undefined) return []
  const lanes = await queue.lanes({ limit: LANES })
  const stray = new Set(lanes.flatMap(({ lane }) => findStraySource(sources, destinationOfLane(lane)) ?? []))
  return [...stray].slice(0, STRAY_SOURCES).map((name) => ({
    grade: 'note',
    what: `exports of ${name} wait, a source that these settings do not have`,
    remedy: `fine if those of a running service do; else put it back, or penstock export-queue drop --source ${name}`,
  }))
}

/** Undefined where they are wrong, which `exportFindings` tells. */
function configuredSources(settings: Settings): Sources | undefined {
  try {
    return exportConfig(settings).sources
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return undefined
  }
}

async function queueFinding(queue: DeliveryQueue): Promise<Finding> {
  const { dead, open } = await queue.counts()
  const waiting = `${formatCount(open)} ${open === 1 ? 'waits' : 'wait'}`
  if (dead === 0) return { grade: 'ok', what: `no export has failed for good, ${waiting}` }
  return {
    grade: 'wrong',
    what: `${counted(dead, 'export')} ${dead === 1 ? 'has' : 'have'} failed for good, ${waiting}`,
    remedy: 'penstock export-queue list says why; once that is mended, penstock export-queue replay --all',
  }
}

function exportFindings(settings: Settings): Finding[] {
  try {
    const { endpoint } = exportConfig(settings)
    if (endpoint !== undefined || settings['gateway.tlsCertFile'] === undefined) return []
    const what = `pipelines are exported to ${gatewayUrl(settings)}, whose certificate may be for another name`
    return [{ grade: 'note', what, remedy: 'set PENSTOCK_EXPORT_ENDPOINT to the URL that fits the certificate' }]
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return error.lines.map((what) => ({ grade: 'wrong', what }))
  }
}

async function portFinding(setting: string, { host, port }: ListenAddress): Promise<Finding> {
  const where = `${setting} ${host.includes(':') ? `[${host}]` : host}:${port}`
  const server = createServer()
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve)
    server.listen(port, host, () => resolve(undefined))
  })
  if (failure !== undefined) {
    return failure.code === 'EADDRINUSE'
      ? { grade: 'note', what: `${where} is taken`, remedy: 'fine if that is this penstock; else choose another port' }
      : {
          grade: 'wrong',
          what: `${where} cannot be had: ${failure.code}`,
          remedy: `set ${setting} to an address of this machine`,
        }
  }
  await new Promise((resolve) => server.close(resolve))
  return { grade: 'ok', what: `${where} is free` }
}

function urlFinding(settings: Settings): Finding {
  const externalUrl = settings['core.externalUrl']
  const { host } = settings['core.listen']
  if (externalUrl === undefined) {
    return isLoopback(host)
      ? { grade: 'ok', what: 'generated URLs start with the bound address' }
      : {
          grade: 'wrong',
          what: `the core listens on ${host}, and generated URLs start with that`,
          remedy: 'set PENSTOCK_EXTERNAL_URL to the URL that people use',
        }
  }
  const { protocol, hostname } = new URL(externalUrl)
  // Wherever we listen: it is what people use, and a proxy in front that speaks HTTP does not mend it.
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))
    ? {
        grade: 'wrong',
        what: `${externalUrl} sends passwords and tokens in clear text`,
        remedy: 'put a proxy with TLS in front, and use its https:// URL',
      }
    : { grade: 'ok', what: `generated URLs start with ${externalUrl}` }
}

const isLoopback = (host: string): boolean => /^127\.[\d.]+$/.test(host) || host === '::1' || host === 'localhost'
