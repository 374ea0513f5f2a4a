import { randomUUID } from 'node:crypto'
import {
  type Actor,
  accessLevels,
  type Core,
  type CoreSettings,
  createHook,
  type InputSchema,
  listHookEvents,
  migrateCore,
  type Operation,
  type Project,
  perform,
  type RequestFacts,
  type StoredHookCall,
  type User,
} from '@penstock/core'
import { deliveryMigrations } from '@penstock/delivery'
import { silentLog } from '@penstock/runtime'
import { ScriptedServer, World } from '@penstock/testkit'
import { onTestFinished, vi } from 'vitest'
import { Webhooks } from './webhooks.ts'

type Script = Parameters<typeof ScriptedServer.start>[0]

/** A core that calls hooks, with a project of `mira`, who manages its hooks, and a receiver. */
export class HookWorld {
  readonly world: World
  readonly core: Core
  readonly webhooks: Webhooks
  readonly receiver: ScriptedServer
  readonly mira: User
  readonly project: Project

  static async open(
    script: Script = () => ({ play: 'reply', status: 200, body: 'ok' }),
    {
      starts = true,
      settings = {},
      requestTimeoutMs,
    }: { starts?: boolean; settings?: Partial<CoreSettings>; requestTimeoutMs?: number } = {},
  ): Promise<HookWorld> {
    const world = await World.open({
      pinnedSettings: { allow_local_requests_from_web_hooks_and_services: true },
      ...settings,
    })
    await migrateCore(world.core.db, deliveryMigrations)
    const receiver = await ScriptedServer.start(script)
    const webhooks = newWebhooks(world.core, requestTimeoutMs)
    const mira = await world.user('mira')
    const project = await world.project('tools', await world.group('ops'))
    await world.member(project, mira, accessLevels.owner)
    if (starts) webhooks.start()
    onTestFinished(async () => {
      await webhooks.end()
      await receiver.close()
      await world.close()
    })
    return new HookWorld({ world, webhooks, receiver, mira, project })
  }

  private constructor(parts: Pick<HookWorld, 'world' | 'webhooks' | 'receiver' | 'mira' | 'project'>) {
    this.world = parts.world
    this.webhooks = parts.webhooks
    this.receiver = parts.receiver
    this.mira = parts.mira
    this.project = parts.project
    this.core = { ...this.world.core, listeners: [this.webhooks.listener], hookCalls: this.webhooks.calls }
  }

  perform<Input extends InputSchema, Result>(
    operation: Operation<Input, Result>,
    input: object,
    { actor = this.mira, request = {} }: { actor?: Actor; request?: RequestFacts } = {},
  ): Promise<Result> {
    return perform(this.core, actor, operation, { project: this.project.id, ...input }, { request })
  }

  hook(draft: object = {}) {
    return this.perform(createHook, { url: `${this.receiver.url}/in`, pushEvents: false, ...draft })
  }

  /** Returns the bodies that the receiver was sent, once there are `count` of them. */
  async bodies(count: number): Promise<Record<string, unknown>[]> {
    await this.receiver.received(count)
    return this.receiver.requests.map(({ body }) => JSON.parse(Buffer.from(body).toString() || '{}'))
  }

  /** Returns the event log of a hook, newest first, once it has `count` entries. */
  calls(hookId: number, count: number): Promise<readonly StoredHookCall[]> {
    return vi.waitFor(
      async () => {
        const { items } = await this.perform(listHookEvents, { hookId })
        if (items.length < count) throw new Error(`the log has ${items.length} entries`)
        return items
      },
      { timeout: 30_000, interval: 20 },
    )
  }

  /** Resolves when no delivery is waiting. */
  idle(): Promise<void> {
    return vi.waitFor(
      async () => {
        const rows = await this.core.db.read.selectFrom('hook_payloads').select('id').execute()
        if (rows.length > 0) throw new Error(`${rows.length} events are waiting`)
      },
      { timeout: 30_000, interval: 20 },
    )
  }
}

export const newWebhooks = (core: Core, requestTimeoutMs?: number): Webhooks =>
  new Webhooks({
    core,
    random: Math.random,
    newClaim: randomUUID,
    log: silentLog,
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  })
