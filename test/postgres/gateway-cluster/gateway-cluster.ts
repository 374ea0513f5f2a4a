import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Nginx, startNginx } from '../../proxies/nginx.ts'
import { KillablePostgres } from '../postgres-server.ts'
import { GatewayHost } from './gateway-host.ts'

/** As many as in the configuration of nginx in docs/guides/operations.md. */
const HOSTS = 4

const operationsPage = join(
  dirname(createRequire(import.meta.url).resolve('@penstock/cli/package.json')),
  '../../docs/guides/operations.md',
)

/** Returns the nginx configuration for several hosts in docs/guides/operations.md, with the ports of this run. */
function configFromOperationsPage(gatewayPorts: readonly number[], port: number): string {
  const snippet = /```nginx\n(upstream penstock_hosts [\s\S]*?)```/.exec(readFileSync(operationsPage, 'utf8'))?.[1]
  if (snippet === undefined) throw new Error('docs/guides/operations.md has no nginx configuration of several hosts')
  const servers = snippet.split(/gateway-\d\.example\.com:4318/)
  if (servers.length !== gatewayPorts.length + 1)
    throw new Error(`docs/guides/operations.md has ${servers.length - 1} hosts`)
  const addressed = servers.map((part, index) => (index === 0 ? part : `127.0.0.1:${gatewayPorts[index - 1]}${part}`))
  return addressed.join('').replace('listen 4318;', `listen 127.0.0.1:${port};`)
}

/** Four gateways as on four hosts, on a PostgreSQL server of their own, behind a real nginx. */
export class GatewayCluster implements AsyncDisposable {
  readonly postgres: KillablePostgres
  readonly hosts: readonly GatewayHost[]
  readonly #nginx: Nginx

  static async start(): Promise<GatewayCluster> {
    const postgres = await KillablePostgres.start()
    const hosts: GatewayHost[] = []
    try {
      while (hosts.length < HOSTS) hosts.push(await GatewayHost.start(`gateway-${hosts.length + 1}`, postgres.url))
      const gatewayPorts = hosts.map(({ otlpPort }) => otlpPort)
      const nginx = await startNginx({ config: ([port]) => configFromOperationsPage(gatewayPorts, port!) })
      return new GatewayCluster(postgres, hosts, nginx)
    } catch (error) {
      await removeAll(hosts, postgres)
      throw error
    }
  }

  private constructor(postgres: KillablePostgres, hosts: readonly GatewayHost[], nginx: Nginx) {
    this.postgres = postgres
    this.hosts = hosts
    this.#nginx = nginx
  }

  /** The OTLP/HTTP base URL of nginx. */
  get url(): string {
    return `http://127.0.0.1:${this.#nginx.ports[0]}`
  }

  /** Returns the errors that nginx has logged about gateways, and their numbers. */
  proxyErrors(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const [, text] of this.#nginx.logs().matchAll(/\[error\] \S+ \*\d+ ([^,]+?)(?: \(\d+: [^)]*\))? while /g))
      counts[text!] = (counts[text!] ?? 0) + 1
    return counts
  }

  get runningHosts(): GatewayHost[] {
    return this.hosts.filter(({ isRunning }) => isRunning)
  }

  /** Creates a token through the first gateway. */
  async token(body: object = {}): Promise<{ readonly id: string; readonly token: string }> {
    return (await this.#callOrThrow('POST', '/tokens', { name: 'cluster', ...body })).json
  }

  async enforce(enabled: boolean): Promise<void> {
    await this.#callOrThrow('PUT', '/state', { enabled })
  }

  /** Returns the errors that the gateways have logged, without those that an absent database explains, and their numbers. */
  unexpectedErrors(): string[] {
    const lines = this.hosts.flatMap(({ logs }) => logs.split('\n'))
    const events = lines
      .filter((line) => /"level":"(?:error|fatal)"/.test(line))
      .map((line) => (JSON.parse(line) as { event: string }).event)
      .filter((event) => !eventsWithoutDatabase.has(event))
    return [...new Set(events)].map((event) => `${events.filter((each) => each === event).length} × ${event}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nginx.stop()
    await removeAll(this.hosts, this.postgres)
  }

  async #callOrThrow(method: string, path: string, body: object) {
    const reply = await this.hosts[0]!.call(method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply
  }
}

/** The errors that a gateway logs because its database is away. */
const eventsWithoutDatabase: ReadonlySet<string> = new Set([
  'store.unreadable',
  'usage.unwritten',
  'limits.unshared',
  'usage.lost',
  'expiry.unchecked',
  'purge.failed',
])

async function removeAll(hosts: readonly GatewayHost[], postgres: KillablePostgres): Promise<void> {
  for (const host of hosts) await host[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
}
