import { type Core, createPersonalToken, type User } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { areas as allAreas } from '../areas.ts'
import { type RestOptions, restListener } from './serve-rest.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body if it is JSON, the text if it is not, or `undefined` if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests check the parts that they need
  readonly body: any
}

export interface Call {
  readonly token?: string | undefined
  /** A value that is sent as JSON. */
  readonly json?: object | undefined
  /** A text that is sent as JSON as it is. */
  readonly text?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

type ServerOptions = Partial<RestOptions & { readonly core: Core; readonly world: World }>

/** The REST API of a test world, on a free port. All areas are served, without rate limits, unless the options differ. */
export class RestServer {
  readonly world: World
  /** The address of the server, without a path. */
  readonly url: string
  readonly #listening: Listening
  #administrator: User | undefined

  static async start({ world, ...options }: ServerOptions = {}): Promise<RestServer> {
    const own = world ?? (await World.open())
    const listener = restListener({ core: own.core, areas: allAreas, log: silentLog, rateLimits: 'off', ...options })
    return new RestServer(own, await listen(listener, { host: '127.0.0.1', port: 0 }))
  }

  private constructor(world: World, listening: Listening) {
    this.world = world
    this.url = listening.url
    this.#listening = listening
  }

  /** Closes the server and its world. Requests in progress are cut off. */
  async close(): Promise<void> {
    await this.#listening.close(AbortSignal.abort())
    await this.world.close()
  }

  /** Creates a personal access token of the user. */
  async tokenOf(user: User, scopes: readonly string[] = ['api']): Promise<string> {
    this.#administrator ??= { ...user, isAdministrator: true }
    const draft = { userId: user.id, name: 'test', scopes: [...scopes] }
    return (await this.world.perform(this.#administrator, createPersonalToken, draft)).value
  }

  /** Sends a request to a path below `/api/v4/`. Redirects are not followed. */
  async call(method: string, path: string, { token, json, text, headers }: Call = {}): Promise<Answer> {
    const body = json === undefined ? text : JSON.stringify(json)
    const reply = await fetch(`${this.url}/api/v4/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { 'private-token': token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
    return { status: reply.status, headers: reply.headers, body: await readBody(reply) }
  }
}

async function readBody(reply: Response): Promise<unknown> {
  const text = await reply.text()
  if (text === '') return undefined
  return reply.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
}
