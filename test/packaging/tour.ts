import { expect } from 'vitest'
import { runAgainst, shellBlocks } from '../page-commands.ts'

/** The addresses and the secrets of a running service. */
export interface RunningService {
  readonly managementUrl: string
  readonly otlpUrl: string
  readonly coreUrl: string
  readonly apiKey: string
  readonly rootToken: string
}

/** Runs the README's tour of the gateway: a request without a token is refused, one with a token is accepted and stored. */
export async function tourGateway(service: RunningService): Promise<void> {
  const blocks = shellBlocks('README.md', '## A tour of the gateway', '## Where to go next')
  expect(blocks).toHaveLength(6)
  // The store writes accepted telemetry some milliseconds later.
  const script = blocks.map((block) => block.replace(/^obs '.*traces\?service=tour'/m, 'sleep 1\n$&')).join('echo\n')
  const outcome = await runAgainst(service, script, { OBS_API_KEY: service.apiKey })
  expect({ exitCode: outcome.exitCode, stderr: outcome.exitCode === 0 ? '' : outcome.stderr }).toEqual({
    exitCode: 0,
    stderr: '',
  })
  expect([...outcome.stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['401', '200'])
  const [traces, readiness] = outcome.stdout
    .split('\n')
    .filter((line) => /^(?:\[|\{"ready)/.test(line))
    .map((line) => JSON.parse(line))
  expect(traces).toMatchObject([{ trace_id: '5b8efff798038103d269b633813fc60c' }])
  expect(readiness).toMatchObject({ clients: [{ reason: 'missing', signal: 'traces' }] })
}

/** Runs the tour of the core. */
export async function tourCore(service: RunningService): Promise<void> {
  const [requests = ''] = shellBlocks('docs/guides/tour.md', '## A tour of the core', '### The sample workspace')
  const script = requests.replaceAll('http://127.0.0.1:8080', service.coreUrl)
  const { exitCode, stdout } = await runAgainst(service, script, { PRIVATE_TOKEN: service.rootToken })
  expect(exitCode).toBe(0)
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const [root, group, project, , , closed, , file, commits] = answers
  expect([root.username, group.full_path, project.path_with_namespace]).toEqual(['root', 'ops', 'ops/tools'])
  expect(closed.state).toBe('closed')
  expect(file.file_path).toBe('NOTES')
  expect(commits).toHaveLength(2)
}

/** Returns the addresses and the secrets in the first lines of a service. Secrets are empty if this is not its first start. */
export function readBanner(banner: string): RunningService {
  const found = (pattern: RegExp) => pattern.exec(banner)?.[1] ?? ''
  return {
    managementUrl: found(/are on (http:\S+)\.\n/),
    otlpUrl: found(/takes OTLP on (\S+) and/).replace(/^(?!http)/, 'http://'),
    coreUrl: found(/REST API is on (http:\S+)\/api\/v4,/),
    apiKey: found(/API key, shown only now: +(\S+)/),
    rootToken: found(/root, shown only now: +(\S+)/),
  }
}
