import { RunningCore } from '../running-core.ts'
import { GoClient, type GoOutcome } from './go-client.ts'

/** A core and a client-go that calls it. */
export class GoWorld {
  readonly core: RunningCore
  readonly #client: GoClient

  static async start(): Promise<GoWorld> {
    return new GoWorld(await RunningCore.start())
  }

  private constructor(core: RunningCore) {
    this.core = core
    this.#client = new GoClient(core.url)
  }

  /** Calls a method such as `AccessRequests.RequestGroupAccess` with a token. */
  as(token: string, method: string, ...args: readonly unknown[]): Promise<GoOutcome> {
    return this.#client.call(token, method, ...args)
  }

  asRoot(method: string, ...args: readonly unknown[]): Promise<GoOutcome> {
    return this.as(this.core.rootToken, method, ...args)
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.core.close()
  }
}
