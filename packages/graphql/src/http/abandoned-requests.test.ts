import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { accessLevels, type Core, type User } from '@penstock/core'
import { Gate, World } from '@penstock/testkit'
import type { KyselyPlugin } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.harness.ts'

/** Holds the result of a database statement back until it is released. */
class Hold {
  readonly #reached = new Gate()
  readonly #gate = new Gate()
  readonly reached = this.#reached.opened

  hold(): Promise<void> {
    this.#reached.open()
    return this.#gate.opened
  }

  release(): void {
    this.#gate.open()
  }
}

let world: World
let server: GraphqlServer
let alice: User
let statements: number
/** The statement to hold, by its number, and the hold for the next transaction. */
let heldStatement: { readonly number: number; readonly hold: Hold } | undefined
let heldWrite: Hold | undefined
/** Opens when a request has ended, with or without a response. */
let ended: Gate

beforeEach(async () => {
  world = await World.open({ settingsCacheSeconds: 3_600 })
  alice = await world.user('alice')
  const group = await world.group('acme')
  await world.project('app', group)
  await world.project('site', group)
  await world.member(group, alice, accessLevels.developer)
  statements = 0
  heldStatement = undefined
  heldWrite = undefined
  server = await GraphqlServer.start({ core: heldCore() }, world)
  ended = new Gate()
})
afterEach(() => server.close())

function heldCore(): Core {
  const { db, clock } = world.core
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements += 1
      if (heldStatement?.number === statements) await heldStatement.hold.hold()
      return result
    },
  }
  return {
    ...world.core,
    db: {
      read: db.read.withPlugin(counting),
      readWithin: (limit, subscriber) => db.readWithin(limit, subscriber).withPlugin(counting),
      close: () => db.close(),
      write: (work, options) =>
        db.write(async (tx) => {
          const hold = heldWrite
          heldWrite = undefined
          await hold?.hold()
          return work(tx)
        }, options),
    },
    clock: {
      nowMs: () => clock.nowMs(),
      nowNs: () => clock.nowNs(),
      monotonicMs: () => clock.monotonicMs(),
      sleep(ms, signal) {
        // A request cancels its time limit when it ends.
        signal?.addEventListener('abort', () => ended.open(), { once: true })
        return clock.sleep(ms, signal)
      },
    },
  }
}

/** A query with nested fields, each of which needs the result of its parent first. */
const MANY_ROUNDS = `{ project(fullPath: "acme/app") { group { projects { nodes { group { groupMembers { nodes {
  user { groupMemberships { nodes { id } } } } } } } } } } }`

/** Returns the number of statements for a query of a client that stays connected. */
async function statementsOf(query: string): Promise<number> {
  const before = statements
  expect((await server.ask(query, { as: alice })).body.errors).toBeUndefined()
  return statements - before
}

/** Yields a hold for each statement of the fields in turn. The statements before them identify the caller. */
async function* holdsIn(query: string): AsyncGenerator<Hold> {
  await statementsOf(query)
  const first = (await statementsOf('{ echo(text: "a") }')) + 1
  const count = await statementsOf(query)
  expect(count - first).toBeGreaterThan(5)
  for (let passed = first; passed < count; passed += 1) {
    const hold = new Hold()
    heldStatement = { number: statements + passed, hold }
    ended = new Gate()
    yield hold
  }
}

/** Sends a request over a new connection. */
async function send(content: object): Promise<Socket> {
  const authorization = `Bearer ${await server.tokenOf(alice)}`
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const body = JSON.stringify(content)
  const head = `POST /api/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  return socket
}

async function disconnect(socket: Socket): Promise<void> {
  socket.destroy()
  await server.closedConnections.at(-1)
}

test('stops querying the database and ends the request when the client disconnects', async () => {
  for await (const hold of holdsIn(MANY_ROUNDS)) {
    const socket = await send({ query: MANY_ROUNDS })
    await hold.reached
    await disconnect(socket)
    const before = statements
    hold.release()
    await ended.opened
    expect(statements).toBe(before)
  }
  expect(world.clock.wakeTimesMs).toEqual([])
})

test('stops querying the database after the time limit', async () => {
  const few = await statementsOf('{ echo(text: "a") }')
  for await (const hold of holdsIn(MANY_ROUNDS)) {
    const response = server.ask(MANY_ROUNDS, { as: alice })
    await hold.reached
    const before = statements
    await world.clock.advance(30_000)
    expect((await response).body.errors[0].message).toMatch(/^Timeout on /)
    hold.release()
    // Statements of the first request would run before those of this one.
    await statementsOf('{ echo(text: "a") }')
    expect(statements - before).toBeLessThanOrEqual(few)
  }
})

test('completes a started mutation after a disconnect, and does not start the next one', async () => {
  const create = (title: string) =>
    `${title}: createIssue(input: { projectPath: "acme/app", title: "${title}", labels: ["new"] }) { issue { iid } errors }`
  await server.ask('{ echo(text: "a") }', { as: alice })
  // Waits until the last use of the token has been written.
  await world.core.db.write(async () => {})
  const hold = new Hold()
  heldWrite = hold
  ended = new Gate()
  const socket = await send({ query: `mutation { ${create('one')} ${create('two')} }` })
  await hold.reached
  await disconnect(socket)
  hold.release()
  await ended.opened
  const { body } = await server.ask(
    '{ project(fullPath: "acme/app") { issues { nodes { title labels { nodes { title } } } } } }',
    { as: alice },
  )
  expect(body.data.project.issues.nodes).toEqual([{ title: 'one', labels: { nodes: [{ title: 'new' }] } }])
})

test('does not start the remaining operations of a batch after a disconnect', async () => {
  const { value: hold } = await holdsIn(MANY_ROUNDS).next()
  const socket = await send(Array(3).fill({ query: MANY_ROUNDS }))
  await hold!.reached
  await disconnect(socket)
  const before = statements
  hold!.release()
  await ended.opened
  expect(statements).toBe(before)
})
