import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { type Forge, type ForgeName, forges, type HookOwner, RecordError } from '@penstock/forges'
import { apiUrl, ForgeClient } from '../backfill/forge-client.ts'
import { ForgeError } from '../backfill/forge-error.ts'
import { type BackfillSettings, forgeApi, runBackfill } from '../backfill/run-backfill.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { printable } from '../text/wording.ts'
import { checkToken, installHook, listProjects } from './install-hook.ts'
import { manualSteps } from './manual-steps.ts'
import { connectSource } from './source-file.ts'

export interface ConnectSettings {
  readonly forgeName: ForgeName
  readonly from: string
  readonly owners: readonly HookOwner[]
  readonly privateToken: string | undefined
  /** The address of the service that receives the webhooks, without a slash at its end. */
  readonly publicUrl: string
  readonly source: string
  /** The file with the sources of the service. */
  readonly sourcesFile: string
  /** Whether the service reads the sources from that file already. */
  readonly isFileSet: boolean
  /** Returns the settings of the backfill; `undefined` if the environment turns the export off. */
  readonly backfill: (projects: readonly string[]) => BackfillSettings | undefined
}

/** The time to wait for a failing request of the forge. */
const RETRY_FOR_MS = 30_000
const MAX_REPLY_BYTES = 8 * 1024 * 1024

/**
 * Checks the token, installs the webhook with the secret of its source, and exports past runs.
 *
 * @returns the exit code
 */
export async function runConnect(settings: ConnectSettings, environment: Environment): Promise<number> {
  const { publicUrl, source, sourcesFile, isFileSet, backfill } = settings
  const print = (line: string): Promise<void> => write(environment.stdout, `${printable(line)}\n`)
  const url = `${publicUrl}/hooks/pipelines/${source}`
  let projects: readonly string[]
  try {
    projects = await connect(settings, environment, url, print)
  } catch (error) {
    if (!(error instanceof ForgeError || error instanceof RecordError)) throw error
    environment.stderr.write(`penstock: ${printable(error.message)}\n`)
    return exitCodes.incomplete
  }
  if (!isFileSet) {
    await print(
      `set PENSTOCK_SOURCES=${sourcesFile} for penstock serve and start it again, so that it accepts the webhooks`,
    )
  }
  const past = projects.length === 0 ? undefined : backfill(projects)
  const exitCode = past === undefined ? exitCodes.ok : await runBackfill(past, environment)
  await print(`console: ${publicUrl}/`)
  return exitCode
}

/** Installs the webhooks, or prints how to. @returns the names of the projects */
async function connect(
  { forgeName, from, owners, privateToken, source, sourcesFile }: ConnectSettings,
  { clock, random, signal, stderr }: Environment,
  url: string,
  print: (line: string) => Promise<void>,
): Promise<readonly string[]> {
  const api = forgeApi(forgeName)
  const { hookApi }: Forge = forges[forgeName]
  const client = new HttpClient({ ...defaultHttpClientLimits, keptReplyBytes: MAX_REPLY_BYTES })
  try {
    const forge = new ForgeClient({
      api,
      apiName: `the API of ${forgeName}`,
      url: apiUrl(from, api),
      token: privateToken,
      client,
      maxReplyBytes: MAX_REPLY_BYTES,
      clock,
      random,
      retryForMs: RETRY_FOR_MS,
      signal,
      notify: (line) => void stderr.write(`${printable(line)}\n`),
    })
    if (hookApi !== undefined) for (const owner of owners) await checkToken(forge, hookApi, owner)
    const { secret, isNew } = connectSource(sourcesFile, source, forgeName)
    await print(`source ${source} ${isNew ? 'added to' : 'found in'} ${sourcesFile}, with the secret of the webhook`)
    if (hookApi === undefined) {
      for (const line of manualSteps(forgeName, url, sourcesFile)) await print(line)
      return owners.map(({ name }) => name)
    }
    const names: string[] = []
    for (const owner of owners) {
      const done = await installHook(forge, hookApi, owner, { url, secret })
      await print(`webhook of ${owner.name} ${done}: ${url}`)
      names.push(...(owner.kind === 'project' ? [owner.name] : await listProjects(forge, hookApi, owner.name)))
    }
    return names
  } finally {
    await client.close()
  }
}
