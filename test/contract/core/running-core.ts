import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import {
  autoMergeListener,
  createApplication,
  createJobToken,
  ensureRootToken,
  findUserByUsername,
  type User,
} from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { MarkupRenderer } from '@penstock/markup'
import { areas, oauthRoutes, restListener, signInRoutes } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { Webhooks } from '@penstock/webhooks'

/** The complete REST API on a free port, with the service name that GitLab clients expect. */
export class RunningCore {
  readonly url: string
  /** The token of the first administrator, `root`. */
  readonly rootToken: string
  readonly #world: World
  readonly #markup: MarkupRenderer
  readonly #webhooks: Webhooks
  readonly #root: User
  readonly #listening: Listening

  /** @param externalUrl the URL that clients use, if it is not the bound address */
  static async start(externalUrl?: string): Promise<RunningCore> {
    // The listener starts first, because clients follow links, which must have the bound address.
    let answer: RequestListener = (_request, response) => response.writeHead(503).end()
    const listening = await listen((request, response) => answer(request, response), { host: '127.0.0.1', port: 0 })
    const world = await World.open({ serviceName: 'gitlab', externalUrl: externalUrl ?? listening.url })
    const markup = MarkupRenderer.start({ threads: 1 })
    const webhooks = new Webhooks({ core: world.core, random: Math.random, newClaim: randomUUID, log: silentLog })
    // Hooks are tested and judged, but events do not call them.
    const core = { ...world.core, markup, listeners: [autoMergeListener], hookCalls: webhooks.calls }
    const rootToken = await ensureRootToken(core)
    const root = await findUserByUsername({ db: core.db.read, nowMs: core.clock.nowMs() }, 'root')
    answer = restListener({
      core,
      areas,
      log: silentLog,
      rateLimits: 'off',
      extraRoutes: [...oauthRoutes(core), ...signInRoutes(core)],
    })
    return new RunningCore({ world, markup, webhooks }, listening, rootToken!, root!)
  }

  private constructor(
    {
      world,
      markup,
      webhooks,
    }: { readonly world: World; readonly markup: MarkupRenderer; readonly webhooks: Webhooks },
    listening: Listening,
    rootToken: string,
    root: User,
  ) {
    this.url = listening.url
    this.rootToken = rootToken
    this.#world = world
    this.#markup = markup
    this.#webhooks = webhooks
    this.#listening = listening
    this.#root = root
  }

  /** Creates a job token, which clients cannot create, because it is for runners. */
  async jobToken(project: number, userId: number): Promise<string> {
    return (await this.#world.perform(this.#root, createJobToken, { project, userId })).value
  }

  /** Gets an OAuth token by password (RFC 6749, section 4.3) for a new application. */
  async oauthToken(username: string, password: string, scope: string): Promise<string> {
    const application = await this.#world.perform(this.#root, createApplication, {
      name: 'contract',
      redirectUri: 'https://client.example.test/callback',
      scopes: scope,
      confidential: true,
    })
    const reply = await fetch(`${this.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: application.uid,
        client_secret: application.secret,
        username,
        password,
        scope,
      }),
    })
    return ((await reply.json()) as { access_token: string }).access_token
  }

  advance(ms: number): Promise<void> {
    return this.#world.clock.advance(ms)
  }

  async close(): Promise<void> {
    await this.#listening.close(AbortSignal.abort())
    await this.#webhooks.end()
    await this.#world.close()
    await this.#markup.close()
  }
}
