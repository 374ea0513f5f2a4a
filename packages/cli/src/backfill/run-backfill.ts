import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import {
  apiPath,
  type Forge,
  type ForgeApi,
  type ForgeName,
  forgeNames,
  forges,
  isObject,
  type JsonObject,
  Lineage,
  RecordError,
  toId,
} from '@penstock/forges'
import { jsonLog, type Log } from '@penstock/runtime'
import type { ExportSettings } from '../export-run/export-run.ts'
import { performExport } from '../export-run/perform-export.ts'
import { prepareDataDirectory } from '../process/data-directory.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { RecordRun } from '../records/record-run.ts'
import { printable } from '../text/wording.ts'
import { apiUrl, ForgeClient } from './forge-client.ts'
import { ForgeError } from './forge-error.ts'
import { Journal, type JournalSubject } from './journal.ts'
import { PipelineFamily } from './pipeline-family.ts'
import { type PipelineFilter, ProjectSource } from './project-source.ts'

export interface BackfillSettings {
  readonly forgeName: ForgeName
  readonly from: string
  /** The ids or paths of the projects. */
  readonly projects: readonly string[]
  readonly privateToken: string | undefined
  readonly filter: PipelineFilter
  readonly perPage: number
  /** The state file; by default one file per project in the data directory. */
  readonly stateFile: string | undefined
  readonly dataDir: string
  readonly delivery: ExportSettings
}

/** The maximum number of printed notices, such as waits. */
const NOTICES = 20
/** The number of connections: four runs are read concurrently, each with up to three requests. */
const CONNECTIONS = 12

/**
 * Returns how the API of a forge is read.
 *
 * @throws {UsageError} for a forge without one
 */
export function forgeApi(forgeName: ForgeName): ForgeApi {
  const { api }: Forge = forges[forgeName]
  if (api !== undefined) return api
  const readable = forgeNames.filter((name) => 'api' in forges[name])
  throw new UsageError(`--forge ${forgeName}: backfill reads the API of ${readable.join(', ')} only`)
}

/** @returns the exit code */
export async function runBackfill(settings: BackfillSettings, environment: Environment): Promise<number> {
  const { delivery, forgeName } = settings
  const api = forgeApi(forgeName)
  const client = new HttpClient({
    ...defaultHttpClientLimits,
    connections: CONNECTIONS,
    headersTimeoutMs: 60_000,
    bodyTimeoutMs: 30_000,
    keptReplyBytes: delivery.maxDocumentBytes,
  })
  const log = jsonLog(environment.stderr, () => environment.clock.nowMs())
  const journals: Journal[] = []
  const sources: ProjectSource[] = []
  const notices = new Notices((line) => void environment.stderr.write(`${line}\n`))
  let isAdvicePrinted = false
  const printResumeAdvice = (): void => {
    if (isAdvicePrinted || journals.length === 0) return
    isAdvicePrinted = true
    notices.print(resumeAdvice(journals))
  }
  /** Aborts the other requests when one has failed, because they may still be waiting for their next attempt. */
  const end = new AbortController()
  let exitCode: number = exitCodes.incomplete
  try {
    exitCode = await performExport(delivery, environment, async ({ endpoint, stops }) => {
      const forge = newForgeClient(settings, environment, {
        api,
        client,
        stop: AbortSignal.any([stops.all, end.signal]),
        notices,
      })
      const projects =
        forgeName === 'gitlab' ? await gitlabProjects(forge, settings.projects) : named(settings.projects)
      const lineage = new Lineage()
      for (const { name, project, values } of projects) {
        const journal = openJournal(settings, log, {
          from: apiUrl(settings.from, api).href,
          project,
          endpoint: endpoint.urls.traces.href.replace(/\/v1\/traces$/, ''),
        })
        journals.push(journal)
        sources.push(
          new ProjectSource({
            forgeName,
            api,
            forge,
            name,
            project,
            journal,
            family: values && new PipelineFamily({ project: values, journal, lineage }),
            filter: settings.filter,
            signals: delivery.signals,
            convertOptions: delivery.options,
            perPage: settings.perPage,
            maxBytes: delivery.maxDocumentBytes,
            nowNs: environment.clock.nowNs(),
            notify: (line) => notices.notify(line),
          }),
        )
      }
      const run = new RecordRun({ ...delivery, activity: 'exporting', printsToTerminal: false }, environment, sources)
      notices.print = (line) => run.progress.print(line)
      // A second interrupt ends the process before the table is printed.
      environment.signal.addEventListener('abort', printResumeAdvice)
      return run
    })
  } catch (error) {
    if (!(error instanceof ForgeError || error instanceof RecordError)) throw error
    environment.stderr.write(printable(`penstock: ${error.message}`))
    environment.stderr.write('\n')
  } finally {
    end.abort()
    for (const journal of journals) journal.close()
    await client.close()
    environment.signal.removeEventListener('abort', printResumeAdvice)
    const hasFailed = exitCode !== exitCodes.ok && sources.some(({ hasBegun }) => hasBegun)
    if (hasFailed || environment.signal.aborted) printResumeAdvice()
  }
  return exitCode
}

class Notices {
  /** Prints a line, without disturbing the progress of the run. */
  print: (line: string) => void
  #left = NOTICES

  constructor(print: (line: string) => void) {
    this.print = print
  }

  notify(line: string): void {
    if (this.#left <= 0) return
    this.#left -= 1
    this.print(printable(line))
  }
}

interface ClientParts {
  readonly api: ForgeApi
  readonly client: HttpClient
  readonly stop: AbortSignal
  readonly notices: Notices
}

function newForgeClient(
  { from, forgeName, privateToken, delivery }: BackfillSettings,
  { clock, random, signal }: Environment,
  { api, client, stop, notices }: ClientParts,
): ForgeClient {
  const anyStop = AbortSignal.any([signal, stop])
  // Each running or waiting request adds a listener. Without this, Node would report more than ten as a leak.
  setMaxListeners(8 * CONNECTIONS, anyStop)
  return new ForgeClient({
    api,
    apiName: forgeName === 'gitlab' ? 'a GitLab-compatible API' : `the API of ${forgeName}`,
    url: apiUrl(from, api),
    token: privateToken,
    client,
    maxReplyBytes: delivery.maxDocumentBytes,
    clock,
    random,
    retryForMs: delivery.retryForMs,
    signal: anyStop,
    notify: (line) => notices.notify(line),
  })
}

interface BackfillProject {
  /** The name in messages. */
  readonly name: string
  /** The name or id for the API. */
  readonly project: string
  /** The project as the forge returns it, if bundles need it. */
  readonly values?: JsonObject
}

const named = (names: readonly string[]): BackfillProject[] =>
  [...new Set(names)].map((name) => ({ name, project: name }))

/** Returns each project once, even if it was named by id and by path. */
async function gitlabProjects(forge: ForgeClient, names: readonly string[]): Promise<BackfillProject[]> {
  const byId = new Map<string, BackfillProject>()
  for (const name of names) {
    const path = `/projects${apiPath(name)}`
    const values = (await forge.demand({ path }))?.body
    if (!isObject(values)) throw new ForgeError(`${path}: the answer is not a JSON object`)
    const id = toId(values.id)
    if (id === undefined) throw new ForgeError(`${path}: the project has no id`)
    const fullName = values.path_with_namespace
    byId.set(String(id), { name: typeof fullName === 'string' ? fullName : String(id), project: String(id), values })
  }
  return [...byId.values()]
}

function openJournal({ stateFile, dataDir }: BackfillSettings, log: Log, subject: JournalSubject): Journal {
  if (stateFile !== undefined) return Journal.open(stateFile, subject)
  prepareDataDirectory(dataDir, log)
  return Journal.open(join(dataDir, fileName(subject)), subject)
}

/** Returns the file name of the journal, which depends only on the subject. */
function fileName({ from, project, endpoint }: JournalSubject): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([from, project, endpoint]))
    .digest('hex')
  return `backfill-${project.replaceAll(/[^\w.-]/g, '-')}-${digest.slice(0, 12)}.ndjson`
}

function resumeAdvice(journals: readonly Journal[]): string {
  const files = journals.map(({ path }) => path).join(', ')
  return printable(`run the same command again to continue; accepted pipelines are recorded in ${files}`)
}
