import { afterEach, beforeEach } from 'vitest'
import { RestServer } from './rest-server.harness.ts'

export let server: RestServer
/** The token of an administrator, `root`. */
export let token: string

/** Gives each test a server with an administrator. */
export function withAdministeredServer(): void {
  beforeEach(async () => {
    server = await RestServer.start()
    token = await server.tokenOf(await server.world.user('root', { isAdministrator: true }))
  })

  afterEach(() => server.close())
}
