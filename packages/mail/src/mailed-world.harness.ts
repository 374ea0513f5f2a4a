import { randomUUID } from 'node:crypto'
import { type Core, migrateCore } from '@penstock/core'
import { DeliveryQueue, deliveryMigrations } from '@penstock/delivery'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { expect, vi } from 'vitest'
import { MAIL_QUEUE, MailQueue } from './mail-queue.ts'
import { type Received, SmtpReceiver } from './smtp-receiver.harness.ts'
import { parseSmtpUrl, smtpTransport } from './smtp-transport.ts'

const sender = { name: 'Penstock', address: 'penstock@svc.example.test' }

/** A world in which `core` sends mails to an SMTP server. The world's own core sends none. */
export class MailedWorld {
  static async open(): Promise<MailedWorld> {
    const world = await World.open()
    await migrateCore(world.core.db, deliveryMigrations)
    return new MailedWorld(world, await SmtpReceiver.start())
  }

  readonly world: World
  readonly core: Core
  readonly #receiver: SmtpReceiver
  readonly #mails: MailQueue

  private constructor(world: World, receiver: SmtpReceiver) {
    this.world = world
    this.#receiver = receiver
    const transport = smtpTransport(parseSmtpUrl(receiver.url)!, { sender, clock: world.clock })
    const { core } = world
    this.#mails = new MailQueue({
      core,
      transport,
      random: () => 0.5,
      newClaim: randomUUID,
      log: silentLog,
      answersRequests: () => true,
    })
    this.core = { ...core, listeners: [this.#mails.listener] }
    this.#mails.start()
  }

  /** Waits until all mails are sent, and returns those that have arrived since the last call. */
  async received(): Promise<Received[]> {
    const queue = new DeliveryQueue(this.world.core.db as never, MAIL_QUEUE)
    await vi.waitFor(
      async () => {
        await this.world.clock.advance(1_000)
        expect((await queue.counts()).open).toBe(0)
      },
      { timeout: 30_000, interval: 10 },
    )
    return this.#receiver.mails.splice(0)
  }

  /** Returns the sorted names of those who have got a mail since the last call. */
  async mailed(): Promise<string[]> {
    return (await this.received()).map(({ to }) => to.split('@')[0]!).sort()
  }

  async close(): Promise<void> {
    await this.#mails.end()
    await this.#receiver.close()
    await this.world.close()
  }
}
