import { accessSync, constants, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import {
  auditRepositories,
  matchesSecretsKey,
  needsSecretsKey,
  pendingCoreMigrations,
  readSecretsKey,
} from '@penstock/core'
import { type Db, openReadOnly, schemaVersion } from '@penstock/db'
import { DeliveryQueue } from '@penstock/delivery'
import {
  destinationOfLane,
  EXPORT_QUEUE,
  exporterMigrations,
  FETCH_QUEUE,
  findSource,
  findUnconfiguredSource,
  listTokenRefusals,
  type Sources,
} from '@penstock/exporter'
import type { ListenAddress } from '@penstock/gateway'
import { directoryAccess, listOpenEntries } from '../process/data-directory.ts'
import { databaseErrorText } from '../process/database-error.ts'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'
import { exportConfig, gatewayUrl } from '../settings/export-config.ts'
import type { Settings } from '../settings/setting-table.ts'
import { counted, formatCount, printable } from '../text/wording.ts'
import { mailDirectory } from './mail-transport.ts'
import {
  type CoreDatabaseTables,
  coreDatabase,
  lostCoreText,
  repositoriesDirectory,
  SECRETS_KEY_FILE,
} from './open-core.ts'

export interface Finding {
  readonly grade: 'ok' | 'note' | 'wrong'
  readonly message: string
  /** The recommended action. */
  readonly remedy?: string
}

/** The highest number of lanes that are checked. */
const MAX_LANES = 10_000
/** The highest number of missing sources that are reported; the rest follows once these are fixed. */
const MAX_UNCONFIGURED_SOURCES = 20
/** The highest number of directories of repositories that are reported, of each kind. */
const MAX_REPOSITORIES = 20

/** Checks the installation without changing it. Findings are in the order in which a start would run into them. */
export async function diagnose(settings: Settings): Promise<Finding[]> {
  return [
    directoryFinding(settings.dataDir),
    ...entryFindings(settings.dataDir),
    ...(await databaseFindings(settings)),
    ...exportFindings(settings),
    mailFinding(settings),
    await portFinding('core.listen', settings['core.listen']),
    await portFinding('observability.listen', settings['observability.listen']),
    ...(await Promise.all(settings['gateway.http'].map((address) => portFinding('gateway.http', address)))),
    ...(await Promise.all(settings['gateway.grpc'].map((address) => portFinding('gateway.grpc', address)))),
    urlFinding(settings),
  ]
}

function directoryFinding(dataDir: string): Finding {
  if (!existsSync(dataDir))
    return { grade: 'note', message: `${dataDir} does not exist yet; the first start creates it` }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return {
      grade: 'wrong',
      message: `${dataDir} cannot be written`,
      remedy: `give it to the user that runs penstock, or set PENSTOCK_DATA_DIR`,
    }
  }
  const access = directoryAccess(dataDir)
  switch (access.kind) {
    case 'closed':
      return { grade: 'ok', message: `${dataDir} can be written` }
    case 'closable':
      return { grade: 'note', message: `other users can list ${dataDir}; the next start closes it` }
    case 'open': {
      const message = `other users can list ${dataDir}: it stays as it is because ${access.why}`
      return { grade: 'note', message, remedy: `chmod 700 ${dataDir}` }
    }
    case 'writable':
      return { grade: 'wrong', message: access.problem, remedy: access.remedy }
  }
}

function entryFindings(dataDir: string): Finding[] {
  const open = listOpenEntries(dataDir)
  const closedKeys = ['pepper', 'secrets.key'].filter(
    (name) => existsSync(join(dataDir, name)) && !open.some((entry) => entry.name === name),
  )
  return [
    ...closedKeys.map(
      (name): Finding => ({ grade: 'ok', message: `${join(dataDir, name)} belongs to its owner alone` }),
    ),
    ...open.map(
      ({ path, kind }): Finding => ({
        grade: 'wrong',
        message: `others on this machine may read ${path}`,
        remedy: `chmod ${kind === 'tree' ? 700 : 600} ${path}`,
      }),
    ),
  ]
}

async function databaseFindings(settings: Settings): Promise<Finding[]> {
  const { location, name } = coreDatabase(settings)
  const keyFile = join(settings.dataDir, SECRETS_KEY_FILE)
  if (settings.databaseUrl === undefined && !existsSync(location)) {
    if (existsSync(keyFile)) return [{ grade: 'wrong', ...lostCoreText(name) }]
    return [{ grade: 'note', message: `there is no database ${name} yet; the first start creates it` }]
  }
  const opened = (async () => openReadOnly<CoreDatabaseTables>(location))()
  try {
    const db = await opened
    const pending = await pendingCoreMigrations(db, exporterMigrations)
    if (pending.length === 0) {
      const queue = queueOf(db)
      return [
        { grade: 'ok', message: `${name} is up to date: its schema is ${await schemaVersion(db)}` },
        ...(await secretsKeyFindings(db, name, keyFile)),
        await queueFinding(queue),
        ...(await unconfiguredSourceFindings([queue, queueOf(db, FETCH_QUEUE)], settings)),
        ...(await tokenRefusalFindings(db, settings)),
        ...(await repositoryFindings(db, settings)),
      ]
    }
    const message = `${name} lacks ${pending.join(', ')}; the next start, or penstock migrate, adds them`
    return [{ grade: 'note', message }]
  } catch (error) {
    const message = `${name} cannot be used: ${databaseErrorText(error as Error)}`
    const remedy =
      settings.databaseUrl === undefined
        ? 'restore a backup, or start with another data directory'
        : 'check that the server is running, and that the user name and the password are correct'
    return [{ grade: 'wrong', message, remedy }]
  } finally {
    await opened.then((db) => db.close()).catch(() => {})
  }
}

/** Reports a key that is missing or another one than that of the database: the core would not start. */
async function secretsKeyFindings(
  db: Pick<Db<CoreDatabaseTables>, 'read'>,
  name: string,
  file: string,
): Promise<Finding[]> {
  const remedy = 'restore the right one from a backup'
  try {
    const key = await readSecretsKey(file)
    if (key !== undefined && (await matchesSecretsKey(db, key))) return []
    if (key === undefined && !(await needsSecretsKey(db))) return []
    const problem = key === undefined ? 'is missing, the key' : 'is not the key'
    return [{ grade: 'wrong', message: `${file} ${problem} that the secrets in ${name} are encrypted with`, remedy }]
  } catch (error) {
    const reason = isSystemError(error) ? `cannot use ${file}: ${systemReason(error)}` : (error as Error).message
    return [{ grade: 'wrong', message: reason, remedy }]
  }
}

/** Reports directories that belong to no repository, and repositories without a directory, up to a limit of each. */
async function repositoryFindings(db: Pick<Db<CoreDatabaseTables>, 'read'>, settings: Settings): Promise<Finding[]> {
  const repositoriesDir = repositoriesDirectory(settings)
  const { unknown, missing } = await auditRepositories({ db, settings: { repositoriesDir } })
  const unknownFindings = unknown.slice(0, MAX_REPOSITORIES).map(
    (path): Finding => ({
      grade: 'note',
      message: `${join(repositoriesDir, path)} belongs to no repository of ${coreDatabase(settings).name}, and is not used`,
      remedy: 'left by a restored backup or a killed process: remove it, or keep it to recover its commits with git',
    }),
  )
  const missingFindings = missing.slice(0, MAX_REPOSITORIES).map(
    ({ repository, directory }): Finding => ({
      grade: 'wrong',
      message: `the repository ${repository} is damaged: ${join(repositoriesDir, `${directory}.git`)} is missing`,
      remedy: 'put the directory back from a backup; until then, requests that read or change it get 503',
    }),
  )
  const more = [
    { count: unknown.length, what: 'directories belong to no repository', grade: 'note' as const },
    { count: missing.length, what: 'repositories have no directory', grade: 'wrong' as const },
  ].filter(({ count }) => count > MAX_REPOSITORIES)
  return [
    ...missingFindings,
    ...unknownFindings,
    ...more.map(({ count, what, grade }) => ({ grade, message: `${formatCount(count)} ${what} in all` })),
  ]
}

function queueOf({ read, close }: Pick<Db<CoreDatabaseTables>, 'read' | 'close'>, name = EXPORT_QUEUE): DeliveryQueue {
  const write = () => Promise.reject(new Error('the diagnosis must not write'))
  return new DeliveryQueue({ read, readWithin: () => read, close, write }, name)
}

/** Reports sources that have waiting exports but are missing from the settings. Every process skips their exports. */
async function unconfiguredSourceFindings(queues: readonly DeliveryQueue[], settings: Settings): Promise<Finding[]> {
  const sources = configuredSources(settings)
  if (sources === undefined) return []
  const lanes = (await Promise.all(queues.map((queue) => queue.listOpenLanes({ limit: MAX_LANES })))).flat()
  const unconfigured = new Set(
    lanes.flatMap(({ lane }) => findUnconfiguredSource(sources, destinationOfLane(lane)) ?? []),
  )
  return [...unconfigured].slice(0, MAX_UNCONFIGURED_SOURCES).map((name) => ({
    grade: 'note',
    message: `exports of the source ${name} are waiting, but these settings do not contain it`,
    remedy: `fine if a running service has it in its settings; else add it again, or run penstock export-queue drop --source ${name}`,
  }))
}

/** Reports sources with an API token that their forge refused at the last attempt. */
async function tokenRefusalFindings(db: Pick<Db<CoreDatabaseTables>, 'read'>, settings: Settings): Promise<Finding[]> {
  const sources = configuredSources(settings)
  const refusals = await listTokenRefusals(db.read)
  return refusals.flatMap(({ scope, reason, sinceMs }) => {
    const source = sources && findSource(sources, scope)
    if (source?.api === undefined) return []
    const since = new Date(sinceMs).toISOString()
    return {
      grade: 'wrong',
      message: `runs of the source ${source.name} cannot be read from its forge since ${since}: ${printable(reason)}`,
      remedy: `replace its apiToken, which needs ${source.api.forgeApi.tokenNeeds}`,
    }
  })
}

/** Returns the configured sources; undefined if the settings are invalid, which `exportFindings` reports. */
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
  if (dead === 0) return { grade: 'ok', message: `no export has failed permanently, ${waiting}` }
  return {
    grade: 'wrong',
    message: `${counted(dead, 'export')} ${dead === 1 ? 'has' : 'have'} failed permanently, ${waiting}`,
    remedy: 'penstock export-queue list shows the reasons; once they are fixed, run penstock export-queue replay --all',
  }
}

function exportFindings(settings: Settings): Finding[] {
  try {
    const { endpoint } = exportConfig(settings)
    if (endpoint !== undefined || settings['gateway.tlsCertFile'] === undefined) return []
    const message = `pipelines are exported to ${gatewayUrl(settings)}, and the certificate may be for another name`
    return [{ grade: 'note', message, remedy: 'set PENSTOCK_EXPORT_ENDPOINT to a URL that matches the certificate' }]
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return error.lines.map((message) => ({ grade: 'wrong', message }))
  }
}

function mailFinding(settings: Settings): Finding {
  const server = settings['core.smtpUrl']
  if (server !== undefined) return { grade: 'ok', message: `mails are sent through ${server.host}:${server.port}` }
  return {
    grade: 'note',
    message: `mails are not sent: the newest 1,000 are in ${mailDirectory(settings)}`,
    remedy: 'set PENSTOCK_SMTP_URL, and check it with penstock mail test',
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
      ? {
          grade: 'note',
          message: `${where} is in use`,
          remedy: 'fine if that is this penstock; else choose another port',
        }
      : {
          grade: 'wrong',
          message: `${where} cannot be bound: ${failure.code}`,
          remedy: `set ${setting} to an address of this machine`,
        }
  }
  await new Promise((resolve) => server.close(resolve))
  return { grade: 'ok', message: `${where} is free` }
}

function urlFinding(settings: Settings): Finding {
  const externalUrl = settings['core.externalUrl']
  const { host } = settings['core.listen']
  if (externalUrl === undefined) {
    return isLoopback(host)
      ? { grade: 'ok', message: 'generated URLs start with the bound address' }
      : {
          grade: 'wrong',
          message: `the core listens on ${host}, and generated URLs start with that`,
          remedy: 'set PENSTOCK_EXTERNAL_URL to the URL that people use',
        }
  }
  const { protocol, hostname } = new URL(externalUrl)
  // The listen address does not matter: people use this URL, and an HTTP proxy in front does not make it safe.
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))
    ? {
        grade: 'wrong',
        message: `${externalUrl} sends passwords and tokens in clear text`,
        remedy: 'put a proxy with TLS in front, and use its https:// URL',
      }
    : { grade: 'ok', message: `generated URLs start with ${externalUrl}` }
}

const isLoopback = (host: string): boolean => /^127\.[\d.]+$/.test(host) || host === '::1' || host === 'localhost'
