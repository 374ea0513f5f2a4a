import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { accessLevels, type Core, type User } from '@penstock/core'
import { Gate, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.case.ts'

/** What has been asked of the database stands still, before its answer gets anywhere. */
class Hold {
  readonly #reached = new Gate()
  readonly #gate = new Gate()
  readonly reached = this.#reached.opened

  stand(): Promise<void> {
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
/** Of the statement of that number, and of the next transaction. */
let heldStatement: { readonly number: number; readonly hold: Hold } | undefined
let heldWrite: Hold | undefined
/** Opened when a request has come to its end, with an answer or without. */
let ended: Gate

beforeEach(async () => {
  world = await World.open()
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
  const read = db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements += 1
      if (heldStatement?.number === statements) await heldStatement.hold.stand()
      return result
    },
  })
  return {
    ...world.core,
    db: {
      read,
      close: () => db.close(),
      write: (work, options) =>
        db.write(async (tx) => {
          const hold = heldWrite
          heldWrite = undefined
          await hold?.stand()
          return work(tx)
        }, options),
    },
    clock: {
      nowMs: () => clock.nowMs(),
      nowNs: () => clock.nowNs(),
      sleep(ms, signal) {
        // A request that ends takes its time limit with it.
        signal?.addEventListener('abort', () => ended.open(), { once: true })
        return clock.sleep(ms, signal)
      },
    },
  }
}

/** One after the other: each waits for the one above it. */
const MANY_ROUNDS = `{ project(fullPath: "acme/app") { group { projects { nodes { group { groupMembers { nodes {
  user { groupMemberships { nodes { id } } } } } } } } } } }`

/** How many it takes when nobody goes away. */
async function statementsOf(query: string): Promise<number> {
  const before = statements
  expect((await server.ask(query, { as: alice })).body.errors).toBeUndefined()
  return statements - before
}

/** What it stands at, each time another one of those that a field asks: who calls is asked before. */
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

/** Over a connection of its own. */
async function send(asked: object): Promise<Socket> {
  const authorization = `Bearer ${await server.tokenOf(alice)}`
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const body = JSON.stringify(asked)
  const head = `POST /api/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  return socket
}

async function leave(socket: Socket): Promise<void> {
  socket.destroy()
  await server.ends.at(-1)
}

test('when the client has gone, nothing more is asked of the database, and the request ends', async () => {
  for await (const hold of holdsIn(MANY_ROUNDS)) {
    const socket = await send({ query: MANY_ROUNDS })
    await hold.reached
    await leave(socket)
    const then = statements
    hold.release()
    await ended.opened
    expect(statements).toBe(then)
  }
  expect(world.clock.wakeTimesMs).toEqual([])
})

test('nor when its time is over and the answer has been given', async () => {
  const few = await statementsOf('{ echo(text: "a") }')
  for await (const hold of holdsIn(MANY_ROUNDS)) {
    const asked = server.ask(MANY_ROUNDS, { as: alice })
    await hold.reached
    const then = statements
    await world.clock.advance(30_000)
    expect((await asked).body.errors[0].message).toMatch(/^Timeout on /)
    hold.release()
    // Those of whoever asks next come after what would still be asked.
    await statementsOf('{ echo(text: "a") }')
    expect(statements - then).toBeLessThanOrEqual(few)
  }
})

test('a change that has begun is finished, and the next one is not begun', async () => {
  const create = (title: string) =>
    `${title}: createIssue(input: { projectPath: "acme/app", title: "${title}", labels: ["new"] }) { issue { iid } errors }`
  await server.ask('{ echo(text: "a") }', { as: alice })
  // That the token has been used is written once, by then.
  await world.core.db.write(async () => {})
  const hold = new Hold()
  heldWrite = hold
  ended = new Gate()
  const socket = await send({ query: `mutation { ${create('one')} ${create('two')} }` })
  await hold.reached
  await leave(socket)
  hold.release()
  await ended.opened
  const { body } = await server.ask(
    '{ project(fullPath: "acme/app") { issues { nodes { title labels { nodes { title } } } } } }',
    { as: alice },
  )
  expect(body.data.project.issues.nodes).toEqual([{ title: 'one', labels: { nodes: [{ title: 'new' }] } }])
})

test('of a batch, what has not been begun is left alone too', async () => {
  const { value: hold } = await holdsIn(MANY_ROUNDS).next()
  const socket = await send(Array(3).fill({ query: MANY_ROUNDS }))
  await hold!.reached
  await leave(socket)
  const then = statements
  hold!.release()
  await ended.opened
  expect(statements).toBe(then)
})
