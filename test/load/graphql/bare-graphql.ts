/**
 * A minimal GraphQL server: `node:http` and graphql-js, which parses, validates and executes. Schema, resolvers, readers and
 * authentication are those of the service. There are no limits, no rate limit, no complexity score, no deadline and no
 * headers.
 *
 * Arguments: the SQLite file, the base of URLs.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Core, type CoreTables, identify } from '@penstock/core'
import { openDatabase } from '@penstock/db'
import { createSchema, Loaders, type RequestContext } from '@penstock/graphql'
import { systemClock } from '@penstock/runtime'
import { graphql } from 'graphql'

const [file, externalUrl] = process.argv.slice(2)
const core: Core = {
  db: openDatabase<CoreTables>(file!),
  clock: systemClock,
  randomBytes,
  settings: {
    serviceName: 'svc',
    externalUrl: externalUrl!,
    repositoriesDir: `${file}.repositories`,
    secretsKey: randomBytes(32),
    impersonationEnabled: true,
    settingsCacheSeconds: 60,
    pinnedSettings: {},
    projectStorageBytes: 0,
  },
}
const schema = createSchema(core.settings)

const deadline = { isOver: false, race: (_: string, work: Promise<unknown>) => work, end() {} }

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  answer(request).then(
    (text) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(text),
    (error) => response.writeHead(500).end(String(error)),
  )
})

async function answer(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { query, variables } = JSON.parse(Buffer.concat(chunks).toString())
  const found = await identify(core, {
    bearer: request.headers.authorization?.slice('Bearer '.length),
    takesJobTokens: false,
    proof: { csrfToken: undefined, fetchSite: undefined },
    changesNothing: true,
  })
  const user = found === undefined || found === 'unknown' ? undefined : found.user
  const actor = user && { id: user.id, username: user.username, isAdministrator: user.isAdministrator }
  const contextValue = {
    ...{
      core,
      reads: core.db.read,
      actor,
      request: {},
      mayWrite: true,
      complexity: { score: 0, limit: 250 },
      deadline,
      captcha: undefined,
    },
    loaders: new Loaders(),
    itemBudget: { take: async () => true },
    textBudget: { take: (_: number, read: (maxBytes: number) => unknown) => read(Number.MAX_SAFE_INTEGER) },
    blobBudget: { admit: async () => {} },
  } satisfies Record<keyof RequestContext, unknown>
  return JSON.stringify(await graphql({ schema, source: query, variableValues: variables, contextValue }))
}

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => process.exit())
