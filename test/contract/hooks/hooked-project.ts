import { join } from 'node:path'
import { switchByColumn } from '@penstock/core'
import { openDatabase } from '@penstock/db'
import { ScriptedServer } from '@penstock/testkit'
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { call, dataDirectory, ROOT_TOKEN, type Service, serve } from '../../export/service.ts'
import { until } from '../../gateway/until.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests check the parts that they need
type Json = any

/** A request of a webhook. */
export interface ReceivedCall {
  /** The only switch of the webhook. */
  readonly switch: string
  /** The value of `X-Gitlab-Event`. */
  readonly event: string
  readonly headers: Readonly<Record<string, unknown>>
  /** The bytes as text. */
  readonly text: string
  readonly body: Json
}

/** The switches that something causes. */
export const switches = [...switchByColumn.keys()]

export const signingToken = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

/** A project of a running service, with one webhook for each switch, and what their receiver gets. */
export class HookedProject {
  readonly id: number
  readonly path = 'yard/tools'
  readonly receiver: ScriptedServer
  #service: Service
  readonly #directory: string
  readonly #db: ReturnType<typeof openDatabase<object>>
  readonly #newest = new Map<string, number>()
  #seen = 0

  static async start(): Promise<HookedProject> {
    const receiver = await ScriptedServer.start(() => ({ play: 'reply', status: 200, body: 'ok' }))
    const directory = await dataDirectory()
    const service = await serve('core', directory, environment)
    const db = openDatabase<object>(join(directory, 'core.db'))
    onTestFinished(async () => {
      await db.close()
      await receiver.close()
    })
    const group = await call(service, 'POST', '/groups', { name: 'yard', path: 'yard' })
    const { id } = await call(service, 'POST', '/projects', { name: 'tools', path: 'tools', namespace_id: group.id })
    await call(service, 'POST', '/users', {
      ...{ username: 'noor', name: 'Noor', email: 'noor@example.test', password: 'long-and-secret-7' },
    })
    for (const name of switches) {
      const url = `${receiver.url}/${name}`
      const off = { push_events: false, signing_token: signingToken }
      await call(service, 'POST', `/projects/${id}/hooks`, { url, ...off, [name]: true })
    }
    return new HookedProject({ id, receiver, service, directory, db })
  }

  private constructor(parts: {
    readonly id: number
    readonly receiver: ScriptedServer
    readonly service: Service
    readonly directory: string
    readonly db: ReturnType<typeof openDatabase<object>>
  }) {
    this.id = parts.id
    this.receiver = parts.receiver
    this.#service = parts.service
    this.#directory = parts.directory
    this.#db = parts.db
  }

  /** Calls the API at a path after the project's. `{notes}` in it represents the id of the newest note that was created. */
  async rest(method: string, path: string, body?: object): Promise<Json> {
    const known = path.replace(/\{(\w+)\}/g, (_, kind: string) => String(this.#newest.get(kind)))
    const answer = await call(this.#service, method, `/projects/${this.id}${known}`, body)
    if (method === 'POST' && answer?.id !== undefined) this.#newest.set(path.split('/').at(-1)!, answer.id)
    return answer
  }

  /** Does a mutation, given as its name with its input. @throws Error if it has errors */
  async mutate(name: string, input: object): Promise<void> {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`
    const response = await fetch(`${this.#service.url}/api/graphql`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        query: `mutation ($input: ${type}!) { done: ${name}(input: $input) { errors } }`,
        variables: { input },
      }),
    })
    const answer = (await response.json()) as Json
    if (answer.data?.done?.errors?.length !== 0) throw new Error(`${name}: ${JSON.stringify(answer)}`)
  }

  /** Returns the calls that have arrived since the last time, once no delivery is waiting. */
  async calls(): Promise<readonly ReceivedCall[]> {
    await until('no delivery is waiting', async () => {
      const open = await sql`select 1 from deliveries where state = 'open'
        union all select 1 from hook_payloads limit 1`.execute(this.#db.read)
      return open.rows.length === 0
    })
    const requests = this.receiver.requests.slice(this.#seen)
    this.#seen += requests.length
    return requests.map(({ path, headers, body: bytes }) => {
      const text = Buffer.from(bytes).toString()
      const event = String(headers['x-gitlab-event'])
      return { switch: path.slice(1), event, headers, text, body: JSON.parse(text) }
    })
  }

  /** Restarts the service twice: it begins with a sweep, which has ended when it has stopped. */
  async sweep(): Promise<void> {
    for (let count = 0; count < 2; count += 1) {
      await this.#service.stop()
      this.#service = await serve('core', this.#directory, environment)
    }
  }
}

const environment = { PENSTOCK_ALLOW_LOCAL_WEBHOOKS: 'true', PENSTOCK_SERVICE_NAME: 'gitlab' }
