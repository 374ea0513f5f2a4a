import type { RequestListener } from 'node:http'
import { createPersonalToken, type User } from '@penstock/core'
import { explorerRoutes, graphqlRoutes } from '@penstock/graphql'
import { type Listening, listen } from '@penstock/http'
import { areas, oauthRoutes, restListener, shownMessages, signInRoutes, signInUrl } from '@penstock/rest'
import { jsonLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'

// biome-ignore lint/suspicious/noExplicitAny: tests check the parts that they need
export type Json = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

/** A test world behind a server with REST, GraphQL and the explorer, as in production. */
export class ServedWorld {
  readonly world: World
  readonly url: string
  /** The lines that the service has logged: unexpected errors. */
  readonly logged: readonly string[]
  readonly #listening: Listening
  readonly #tokens = new Map<number, string>()

  static async start({ path = '' }: { path?: string } = {}): Promise<ServedWorld> {
    // The world needs the bound address for the links in its responses, so the server starts first.
    let answer: RequestListener = (_request, response) => response.writeHead(503).end()
    const listening = await listen((request, response) => answer(request, response), { host: '127.0.0.1', port: 0 })
    const world = await World.open({ externalUrl: listening.url + path })
    const { core } = world
    const logged: string[] = []
    answer = restListener({
      core,
      areas,
      log: jsonLog({ write: (line) => logged.push(line) }, () => 0),
      rateLimits: 'off',
      extraRoutes: [
        ...oauthRoutes(core),
        ...signInRoutes(core),
        ...graphqlRoutes({ core }),
        ...explorerRoutes({
          core,
          signInUrl: (returnTo) => signInUrl(core, returnTo),
          messages: (request) => shownMessages(core, request),
        }),
      ],
    })
    return new ServedWorld(world, listening, logged)
  }

  private constructor(world: World, listening: Listening, logged: readonly string[]) {
    this.world = world
    this.url = listening.url
    this.logged = logged
    this.#listening = listening
  }

  async close(): Promise<void> {
    await this.#listening.close(AbortSignal.abort())
    await this.world.close()
  }

  async tokenOf(user: User): Promise<string> {
    const known = this.#tokens.get(user.id)
    if (known !== undefined) return known
    const root = { id: user.id, username: user.username, isAdministrator: true } as User
    const draft = { userId: user.id, name: 'api', scopes: ['api'] }
    const { value } = await this.world.perform(root, createPersonalToken, draft)
    this.#tokens.set(user.id, value)
    return value
  }

  /**
   * Sends a query with a token of `as`, or anonymously.
   *
   * @throws Error with the log line if the server fails
   */
  async graphql(query: string, as?: User, variables?: object, operationName?: string): Promise<Answer> {
    const answer = await this.send('/api/graphql', as, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables, operationName }),
    })
    if (answer.status >= 500) throw new Error(`${query}: ${answer.status} ${this.logged.at(-1)}`)
    return answer
  }

  /** @param path after `/api/v4` */
  rest(path: string, as?: User): Promise<Answer> {
    return this.send(`/api/v4${path}`, as, {})
  }

  /** Sends a REST request. @throws Error with the response if it fails */
  async must(method: string, path: string, as: User, body?: object): Promise<Json> {
    const headers = { 'content-type': 'application/json' }
    const answer = await this.send(`/api/v4${path}`, as, {
      method,
      ...(body && { headers, body: JSON.stringify(body) }),
    })
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)} ${this.logged.at(-1) ?? ''}`)
    return answer.body
  }

  /** @param path after the origin */
  async send(
    path: string,
    as: User | undefined,
    init: { headers?: Record<string, string> } & RequestInit,
  ): Promise<Answer> {
    const headers = { ...init.headers, ...(as && { authorization: `Bearer ${await this.tokenOf(as)}` }) }
    const reply = await fetch(this.url + path, { ...init, headers })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: text === '' ? undefined : JSON.parse(text) }
  }
}
