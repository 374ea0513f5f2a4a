import { EXPLORER_PATH, GRAPHQL_PATH } from '@penstock/graphql'
import type { StartedSamples } from '../samples/sample-workspace.ts'
import { signInLink } from './console-address.ts'
import type { OperatorCommands } from './operator-command.ts'

export interface Started {
  readonly consoleUrl: string
  /** The code of a sign-in link, if a sign-in link is to be printed. */
  readonly signInCode: string | undefined
  readonly managementUrl: string
  readonly commands: OperatorCommands
  /** The OTLP listeners as host:port; none in a process that only answers queries. */
  readonly gatewayUrls: readonly string[]
  readonly embedded: boolean
  /** The first Admin API key, if it has just been created. */
  readonly firstKey: string | undefined
  readonly samples: Pick<StartedSamples, 'sentence' | 'project'> | undefined
  readonly core: StartedCore | undefined
}

export interface StartedCore {
  readonly url: string
  /** The token of the first administrator, if it has just been created. */
  readonly rootToken: string | undefined
  /** The webhook URLs of the sources outside the core. */
  readonly hooks: readonly string[]
}

/** The highest number of webhook URLs that are listed; further ones are counted. */
const MAX_HOOKS = 10

/** Returns the lines of the banner about the core: facts, and commands to try. */
export function coreLines({ url, rootToken, hooks }: StartedCore): { facts: string[]; commands: string[] } {
  return {
    facts: [
      `The REST API is on ${url}/api/v4, described at ${url}/api/v4/openapi.json.`,
      `GraphQL is on ${url}${GRAPHQL_PATH}; ${url}${EXPLORER_PATH} in a browser shows its schema and runs queries.`,
      ...hooks.slice(0, MAX_HOOKS).map((hook) => `Webhooks of a source go to ${hook}`),
      ...(hooks.length > MAX_HOOKS ? [`… and ${hooks.length - MAX_HOOKS} more sources.`] : []),
      ...(rootToken === undefined ? [] : ['', `Token of the administrator root, shown only now:  ${rootToken}`]),
    ],
    commands: [
      ...(rootToken === undefined ? [] : [`  export PRIVATE_TOKEN=${rootToken}`]),
      apiFunction(url),
      '  api user',
    ],
  }
}

/** Returns what a start prints: the addresses, secrets that are shown only once, and commands to try. */
export function banner(started: Started): string {
  const { managementUrl, gatewayUrls, embedded, firstKey, samples, core } = started
  const lines = [
    ...consoleLines(started),
    '',
    gatewayUrls.length > 0
      ? `Penstock takes OTLP on ${gatewayUrls.join(' and ')} (HTTP and gRPC on either).`
      : 'Penstock shows the telemetry in ClickHouse. Gateways on the same database take OTLP.',
    `Its API, metrics and health are on ${managementUrl}.`,
  ]
  if (embedded) lines.push('No upstream is set: telemetry goes to the embedded store, which is for trying things out.')
  if (core !== undefined) lines.push(...coreLines(core).facts)
  if (firstKey !== undefined) lines.push('', `Admin API key, shown only now:  ${firstKey}`)
  if (samples !== undefined) lines.push('', samples.sentence)
  const commands = samples?.project === undefined ? defaultCommands(started) : sampleCommands(started, samples.project)
  lines.push('', 'Try next:', ...(firstKey === undefined ? [] : [`  export OBS_API_KEY=${firstKey}`]), ...commands)
  if (firstKey === undefined) {
    lines.push('', `No API key at hand? ${started.commands.store} api-key create --name me --role Admin`)
  }
  return `${[...lines, ''].join('\n')}\n`
}

function consoleLines({ consoleUrl, signInCode, commands }: Started): string[] {
  if (signInCode === undefined) {
    return [`Console:  ${consoleUrl}/`, `Sign in with an API key, or with a link of: ${commands.console} console link`]
  }
  return [
    `Console:  ${signInLink(consoleUrl, signInCode)}`,
    `The link signs one browser in, within ten minutes. Another one: ${commands.console} console link`,
  ]
}

/**
 * Shell functions as in the README. curl reads the secret from a file descriptor, so the secret
 * does not appear in process lists.
 */
const obsFunction = `  obs() { curl -sS -K <(printf 'header = "OBS-API-KEY: %s"' "$OBS_API_KEY") "$@"; }`
const apiFunction = (url: string): string =>
  `  api() { curl -sS -K <(printf 'header = "PRIVATE-TOKEN: %s"' "$PRIVATE_TOKEN") "${url}/api/v4/$@"; }`
const JSON_BODY = "-H 'Content-Type: application/json'"

function defaultCommands({ managementUrl, gatewayUrls, embedded, core }: Started): string[] {
  const onlyQueries = gatewayUrls.length === 0
  return [
    obsFunction,
    `  obs ${managementUrl}/api/v1/ingest_auth/state`,
    `  obs -d '{"name":"first"}' ${JSON_BODY} ${managementUrl}/api/v1/ingest_auth/tokens`,
    ...(embedded || onlyQueries ? [`  obs ${managementUrl}/api/v1/observe/services`] : []),
    ...(core === undefined ? [] : coreLines(core).commands),
  ]
}

/**
 * Returns commands that list pipelines, list the services they appear as, and enforce tokens. The samples keep
 * working, because they have a token.
 */
function sampleCommands({ managementUrl, core }: Started, project: string): string[] {
  return [
    ...(core!.rootToken === undefined ? [] : [`  export PRIVATE_TOKEN=${core!.rootToken}`]),
    obsFunction,
    apiFunction(core!.url),
    `  api projects/${encodeURIComponent(project)}/pipelines`,
    `  obs ${managementUrl}/api/v1/observe/services`,
    `  obs -X PUT -d '{"enabled":true}' ${JSON_BODY} ${managementUrl}/api/v1/ingest_auth/state`,
  ]
}
