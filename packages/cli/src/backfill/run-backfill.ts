import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { forges, type JsonObject, Lineage, toId } from '@penstock/forges'
import { jsonLog, type Log } from '@penstock/runtime'
import type { ExportSettings } from '../export-run/export-run.ts'
import { performExport } from '../export-run/perform-export.ts'
import { prepareDataDirectory } from '../process/data-directory.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { RecordRun } from '../records/record-run.ts'
import { printable } from '../text/wording.ts'
import { apiUrl, ForgeClient } from './forge-client.ts'
import { ForgeError } from './forge-error.ts'
import { Journal, type JournalSubject } from './journal.ts'
import { type PipelineFilter, ProjectSource } from './project-source.ts'

export interface BackfillSettings {
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

/** Only the API of GitLab is listed so far. */
const { restApi } = forges.gitlab
/** The maximum number of printed notices, such as waits. */
const NOTICES = 20
/** The number of connections: four pipelines are read concurrently, each with three requests. */
const CONNECTIONS = 12

/** @returns the exit code */
export async function runBackfill(settings: BackfillSettings, environment: Environment): Promise<number> {
  const { delivery } = settings
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
        client,
        stop: AbortSignal.any([stops.all, end.signal]),
        notices,
      })
      const projects = await projectsOf(forge, settings.projects)
      const lineage = new Lineage()
      for (const project of projects) {
        const journal = openJournal(settings, log, project, endpoint.urls.traces.href.replace(/\/v1\/traces$/, ''))
        journals.push(journal)
        sources.push(
          new ProjectSource({
            forge,
            project,
            journal,
            lineage,
            filter: settings.filter,
            signals: delivery.signals,
            convertOptions: delivery.options,
            perPage: settings.perPage,
            maxBytes: delivery.maxDocumentBytes,
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
    if (!(error instanceof ForgeError)) throw error
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

function newForgeClient(
  { from, privateToken, delivery }: BackfillSettings,
  { clock, random, signal }: Environment,
  { client, stop, notices }: { readonly client: HttpClient; readonly stop: AbortSignal; readonly notices: Notices },
): ForgeClient {
  const anyStop = AbortSignal.any([signal, stop])
  // Each running or waiting request adds a listener. Without this, Node would report more than ten as a leak.
  setMaxListeners(8 * CONNECTIONS, anyStop)
  return new ForgeClient({
    api: restApi,
    url: apiUrl(from, restApi),
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

/** Returns each project once, even if it was named by id and by path. */
async function projectsOf(forge: ForgeClient, names: readonly string[]): Promise<JsonObject[]> {
  const byId = new Map<bigint, JsonObject>()
  for (const name of names) {
    const path = `/projects/${encodeURIComponent(name)}`
    const project = await forge.object(path)
    const id = toId(project.id)
    if (id === undefined) throw new ForgeError(`${path}: the project has no id`)
    byId.set(id, project)
  }
  return [...byId.values()]
}

function openJournal(
  { from, stateFile, dataDir }: BackfillSettings,
  log: Log,
  project: JsonObject,
  endpoint: string,
): Journal {
  const subject = { from: apiUrl(from, restApi).href, project: String(toId(project.id)), endpoint }
  if (stateFile !== undefined) return Journal.open(stateFile, subject)
  prepareDataDirectory(dataDir, log)
  return Journal.open(join(dataDir, fileName(subject)), subject)
}

/** Returns the file name of the journal, which depends only on the subject. */
function fileName({ from, project, endpoint }: JournalSubject): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([from, project, endpoint]))
    .digest('hex')
  return `backfill-${project}-${digest.slice(0, 12)}.ndjson`
}

function resumeAdvice(journals: readonly Journal[]): string {
  const files = journals.map(({ path }) => path).join(', ')
  return printable(`run the same command again to continue; accepted pipelines are recorded in ${files}`)
}
