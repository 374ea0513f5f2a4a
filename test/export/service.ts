import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { temporarySchema } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import { Interrupted } from '../../packages/cli/src/process/environment.ts'
import { type Outcome, penstock, Sink } from '../command-line.ts'

export const ROOT_TOKEN = 'root-token-of-the-export-tests'
export const ADMIN_KEY = 'administrator-key-of-the-export-tests'

export interface Service {
  /** The URL of the core, without the path of the API. */
  readonly url: string
  /** The URL of `/metrics`; '' if there is no such listener. */
  readonly healthUrl: string
  /** Returns the standard output. */
  said(): string
  /** Returns the log, with one JSON object per line. */
  logs(): string
  /** Stops the service like SIGTERM. Resolves when it has ended. */
  stop(): Promise<Outcome>
}

const free = '127.0.0.1:0'

/** The database URLs by data directory, if the database is not a file in it. */
const databaseUrls = new Map<string, string>()

/** Creates a directory, and on PostgreSQL a schema, that are removed after the test. */
export async function dataDirectory(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-export-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  if (serverUrl) {
    const schema = await temporarySchema(serverUrl)
    databaseUrls.set(directory, schema.location)
    onTestFinished(() => schema.remove())
  }
  return directory
}

/** Starts a role of `penstock serve` in this process, on free ports, until the end of the test. */
export async function serve(
  role: 'all' | 'core' | 'worker',
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const interruption = new AbortController()
  const [stdout, stderr] = [new Sink(), new Sink()]
  const said = new Promise<undefined>((resolve) => stdout.onWrite(() => resolve(undefined)))
  const run = penstock(['serve', role], {
    env: { ...environment(dataDir), ...env },
    stdout,
    stderr,
    random: Math.random,
    signal: interruption.signal,
  })
  const stop = () => {
    interruption.abort(new Interrupted('SIGTERM'))
    return run
  }
  onTestFinished(async () => {
    await stop()
  })
  const ended = await Promise.race([said, run])
  if (ended !== undefined) throw new Error(`it did not start: ${ended.stderr}`)
  const found = (pattern: RegExp) => pattern.exec(stdout.text)?.[1] ?? ''
  return {
    url: found(/REST API is on (http:\S+)\/api\/v4,/),
    healthUrl: found(/etrics and health are on (http:\S+)\.\n/),
    said: () => stdout.text,
    logs: () => stderr.text,
    stop,
  }
}

export function environment(dataDir: string): Record<string, string> {
  const databaseUrl = databaseUrls.get(dataDir)
  return {
    ...(databaseUrl !== undefined && { PENSTOCK_DATABASE_URL: databaseUrl }),
    PENSTOCK_DATA_DIR: dataDir,
    PENSTOCK_ROOT_TOKEN: ROOT_TOKEN,
    PENSTOCK_OBS_API_KEY: ADMIN_KEY,
    PENSTOCK_CORE_LISTEN: free,
    PENSTOCK_OBS_LISTEN: free,
    PENSTOCK_OTLP_HTTP_LISTEN: free,
    PENSTOCK_OTLP_GRPC_LISTEN: free,
    PENSTOCK_DRAIN_DELAY_MS: '0',
    PENSTOCK_DRAIN_TIMEOUT_MS: '2000',
  }
}

/**
 * Calls the API of the core as its administrator.
 * @throws Error if the status is not a success
 */
// biome-ignore lint/suspicious/noExplicitAny: callers know the response
export async function call(service: Service, method: string, path: string, body?: object | string): Promise<any> {
  const response = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/**
 * Creates a project with CI/CD variables, and returns its id.
 * @param variables key → value, of type env_var
 */
export async function newProject(
  service: Service,
  path: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { id } = await call(service, 'POST', '/projects', { name: path, path })
  for (const [key, value] of Object.entries(variables)) await setVariable(service, id, key, value)
  return id
}

export async function setVariable(service: Service, project: number, key: string, value: string): Promise<void> {
  await call(service, 'POST', `/projects/${project}/variables`, { key, value })
}

export const changeVariable = (service: Service, project: number, key: string, value: string): Promise<unknown> =>
  call(service, 'PUT', `/projects/${project}/variables/${key}`, { value })

export const EXPORT = 'SVC_OBSERVABILITY_EXPORT'
export const TOKEN = 'SVC_OBSERVABILITY_TOKEN'

/** Runs a command on the same data directory as the running services. */
export const beside = (dataDir: string, ...args: readonly string[]): Promise<Outcome> =>
  penstock(args, { env: environment(dataDir) })

/** Returns `<state> <pipeline> <signal>` of all deliveries in the queue, sorted. */
export async function queued(dataDir: string): Promise<string[]> {
  const states = ['open', 'dead', 'delivered'] as const
  const lists = await Promise.all(
    states.map(async (state) => {
      const { stdout } = await beside(dataDir, 'export-queue', 'list', '--state', state)
      const rows = stdout.matchAll(/ (\d+)(?: #\d+)? +(traces|metrics|logs) +(open|dead|delivered) /g)
      return [...rows].map(([, pipeline, signal]) => `${state} ${pipeline} ${signal}`)
    }),
  )
  return lists.flat().sort()
}
