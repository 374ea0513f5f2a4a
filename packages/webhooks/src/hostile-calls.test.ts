import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createIssue, issueNotes, removeProject, sweep, testHook } from '@penstock/core'
import { expect, onTestFinished, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const failure = (error: { failure: unknown }) => error.failure

test('headers may have any characters, which are sent in UTF-8; control characters are refused', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({
    pushEvents: true,
    token: 'zä☃',
    customHeaders: [{ key: 'X-Team', value: '紅' }],
  })
  await hooks.perform(testHook, { hookId: id, trigger: 'push_events' })
  const [{ headers }] = hooks.receiver.requests as [(typeof hooks.receiver.requests)[0]]
  const received = [headers['x-svc-token'], headers['x-team']]
  expect(received.map((value) => Buffer.from(String(value), 'latin1').toString())).toEqual(['zä☃', '紅'])

  for (const secrets of [{ token: 'a\u0001b' }, { customHeaders: [{ key: 'X-Team', value: 'a\u0001b' }] }]) {
    const hook = await hooks.hook({ issuesEvents: true, ...secrets })
    const tested = hooks.perform(testHook, { hookId: hook.id, trigger: 'push_events' })
    expect(await tested.catch(failure)).toMatchObject({
      code: 'impossible',
      message: expect.stringMatching(/invalid$/),
    })
    const [call] = await hooks.calls(hook.id, 1)
    expect(call).toMatchObject({ status: undefined, internalError: expect.stringMatching(/invalid$/) })
  }
  expect(hooks.receiver.requests.length).toBe(1)
})

test('a template that repeats a long note, and keys of variables that occur in answers, do not exhaust memory', async () => {
  const letters = 'abcdefghijklmnopqrst'
  const hooks = await HookWorld.open(() => ({ play: 'reply', status: 200, body: letters.repeat(400) }))
  const large = await hooks.hook({
    noteEvents: true,
    customWebhookTemplate: `"${'{{object_attributes.note}}'.repeat(150)}"`,
  })
  const masking = await hooks.hook({
    noteEvents: true,
    urlVariables: [...letters].map((letter) => ({ key: letter + letters.repeat(12), value: letter })),
  })
  await hooks.perform(createIssue, { title: 'Leak' })
  await hooks.perform(issueNotes.create, { issueIid: 1, body: '\u0001'.repeat(1_000_000) })
  const [refused] = await hooks.calls(large.id, 1)
  expect(refused!.internalError).toMatch(/The result is too large$/)
  const [masked] = await hooks.calls(masking.id, 1)
  expect(masked).toMatchObject({ status: 200 })
  expect(masked!.responseBody.length).toBe(8_000)
})

test('custom headers cannot change how a request is framed, or replace a header of the service', async () => {
  const hooks = await HookWorld.open()
  const names = ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'x-svc-event', 'X-Extra']
  const customHeaders = names.map((key) => ({ key, value: '7' }))
  const { id } = await hooks.hook({ pushEvents: true, customHeaders })
  await hooks.perform(testHook, { hookId: id, trigger: 'push_events' })
  const [{ headers, body }] = hooks.receiver.requests as [(typeof hooks.receiver.requests)[0]]
  expect(headers).toMatchObject({ host: new URL(hooks.receiver.url).host, 'x-svc-event': 'Push Hook', 'x-extra': '7' })
  expect(headers['content-length']).toBe(String(body.length))
  expect(headers['transfer-encoding']).toBeUndefined()
})

/** Starts a server that writes to each connection as soon as it has a request. Returns its URL. */
async function rawReceiver(write: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => write(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/in`
}

/** Writes a part again and again, as fast as the other side reads. */
function writeForever(socket: Socket, part: string | Uint8Array): void {
  const more = () => {
    while (!socket.destroyed && socket.write(part));
  }
  socket.on('drain', more)
  more()
}

const dripped = (socket: Socket): void => {
  const timer = setInterval(() => socket.write('x'), 20)
  socket.once('close', () => clearInterval(timer))
}
const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024))

test.each<{ receiver: string; write: (socket: Socket) => void; end: object }>([
  {
    receiver: 'endless headers',
    write: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      writeForever(socket, `X-More: ${'x'.repeat(1_000)}\r\n`)
    },
    end: { status: undefined, internalError: 'the answer is not HTTP (UND_ERR_HEADERS_OVERFLOW)' },
  },
  {
    receiver: 'endless interim answers',
    write: (socket) => writeForever(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    end: { status: undefined },
  },
  {
    receiver: 'a header that does not end',
    write: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
      dripped(socket)
    },
    end: { status: undefined, internalError: 'no answer in time' },
  },
  {
    receiver: 'a slow body',
    write: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')
      dripped(socket)
    },
    end: { status: undefined, internalError: 'the answer ended early, or not in time' },
  },
  {
    receiver: 'a body that ends early',
    write: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok'),
    end: { status: undefined, internalError: 'the answer ended early, or not in time' },
  },
  {
    receiver: 'an endless body',
    write: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      writeForever(socket, `3e8\r\n${'x'.repeat(1_000)}\r\n`)
    },
    end: { status: 200, responseBody: 'x'.repeat(8 * 1_024) },
  },
  {
    receiver: 'a gzip bomb',
    write: (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.write(bomb)
    },
    // The body is stored as it was sent.
    end: { status: 200, responseBody: expect.not.stringMatching(/\0/) },
  },
])('a receiver with $receiver ends in time and in bounds', async ({ write, end }) => {
  const hooks = await HookWorld.open(undefined, { requestTimeoutMs: 1_500 })
  const hook = await hooks.hook({ url: await rawReceiver(write), issuesEvents: true })
  await hooks.perform(createIssue, { title: 'Leak' })
  const [call] = await hooks.calls(hook.id, 1)
  expect(call).toMatchObject(end)
  expect(call!.durationMs).toBeLessThan(10_000)
  // A character of more than one byte may take the place of a byte that is no text.
  expect(call!.responseBody.length).toBeLessThanOrEqual(8 * 1_024)
})

test('the deliveries of a project that is deleted in between end, and the next sweep deletes their log', async () => {
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const url = await rawReceiver(() => isAsked())
  const hooks = await HookWorld.open(undefined, { requestTimeoutMs: 500 })
  await hooks.hook({ url, issuesEvents: true })
  await hooks.hook({ issuesEvents: true })
  await hooks.perform(createIssue, { title: 'Leak' })
  await asked
  await hooks.perform(removeProject, {})
  await hooks.idle()
  await sweep(hooks.core, { eventDays: 30 })
  const { read } = hooks.core.db
  const left = await Promise.all(
    (['hooks', 'hook_payloads', 'hook_calls'] as const).map((table) => read.selectFrom(table).select('id').execute()),
  )
  expect(left).toEqual([[], [], []])
})
