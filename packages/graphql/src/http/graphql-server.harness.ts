import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPersonalToken, type User } from '@penstock/core'
import { type RestOptions, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { graphqlRoutes } from './graphql-routes.ts'
import type { GraphqlOptions } from './graphql-server.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests check the parts that they need
  readonly body: any
}

type ServerOptions = Partial<GraphqlOptions & Pick<RestOptions, 'log' | 'rateLimits'>>

/** The GraphQL endpoint of a test world, behind an HTTP server. */
export class GraphqlServer {
  readonly world: World
  readonly url: string
  /** One promise for each connection, in order. It resolves when the server has seen the connection close. */
  readonly closedConnections: readonly Promise<unknown>[]
  readonly #close: () => Promise<void>
  readonly #tokens = new Map<string, string>()

  /** Starts the endpoint behind the listener of the REST API, as in production. */
  static async start(
    { log = silentLog, rateLimits = 'off', ...options }: ServerOptions = {},
    world?: World,
  ): Promise<GraphqlServer> {
    const own = world ?? (await World.open())
    const { core = own.core } = options
    const extraRoutes = graphqlRoutes({ ...options, core })
    const listener = restListener({ core, areas: [], log, extraRoutes, rateLimits })
    const server = createServer(listener)
    const closedConnections: Promise<unknown>[] = []
    server.on('connection', (socket) => closedConnections.push(new Promise((resolve) => socket.on('close', resolve))))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return new GraphqlServer(own, `http://127.0.0.1:${port}/api/graphql`, closedConnections, async () => {
      await new Promise((resolve) => server.close(resolve).closeAllConnections())
      await own.close()
    })
  }

  private constructor(
    world: World,
    url: string,
    closedConnections: readonly Promise<unknown>[],
    close: () => Promise<void>,
  ) {
    this.world = world
    this.url = url
    this.closedConnections = closedConnections
    this.#close = close
  }

  close(): Promise<void> {
    return this.#close()
  }

  /** Sends a query, with a token of the user if `as` is present, else anonymously. */
  async ask(
    query: string,
    { as, scope = 'api', variables }: { as?: User; scope?: string; variables?: object } = {},
  ): Promise<Answer> {
    const token = as && (await this.tokenOf(as, scope))
    return this.send({
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, ...(variables && { variables }) }),
    })
  }

  async send(init: RequestInit, search = ''): Promise<Answer> {
    const reply = await fetch(this.url + search, init)
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  async tokenOf(user: User, scope = 'api'): Promise<string> {
    const key = `${user.id} ${scope}`
    const known = this.#tokens.get(key)
    if (known !== undefined) return known
    const root = { id: user.id, username: user.username, isAdministrator: true }
    const draft = { userId: user.id, name: scope, scopes: [scope] }
    const { value } = await this.world.perform(root as User, createPersonalToken, draft)
    this.#tokens.set(key, value)
    return value
  }
}
