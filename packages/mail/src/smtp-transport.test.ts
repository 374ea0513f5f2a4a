import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { systemClock } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { expect, onTestFinished, test } from 'vitest'
import type { Message } from './message.ts'
import { MAIL_MS, parseSmtpUrl, smtpTransport } from './smtp-transport.ts'

const sender = { name: 'Penstock', address: 'penstock@svc.example.test' }
const mail: Message = { to: 'mira@example.test', subject: 'Hello', text: 'Hello', html: '', key: 'one', atMs: 0 }

const refusal = (responseCode: number) => Object.assign(new Error('no'), { responseCode })

async function serve(options: SMTPServerOptions): Promise<string> {
  const server = new SMTPServer({ authOptional: true, disabledCommands: ['STARTTLS'], closeTimeout: 100, ...options })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
}

async function outcomeAt(url: string, message = mail) {
  const transport = smtpTransport(parseSmtpUrl(url)!, { sender, clock: systemClock })
  const outcome = await transport.send(message)
  await transport.close()
  return [outcome.kind, outcome.isLocal ?? false]
}

test.each<{ answer: string; options: SMTPServerOptions; kind: string; isLocal: boolean }>([
  {
    answer: '550 for the recipient',
    options: { onRcptTo: (_to, _session, answer) => answer(refusal(550)) },
    kind: 'dead',
    isLocal: true,
  },
  {
    answer: '451 for the recipient',
    options: { onRcptTo: (_to, _session, answer) => answer(refusal(451)) },
    kind: 'retry',
    isLocal: true,
  },
  {
    answer: '421 for the recipient',
    options: { onRcptTo: (_to, _session, answer) => answer(refusal(421)) },
    kind: 'retry',
    isLocal: false,
  },
  {
    answer: '530 for the recipient',
    options: { onRcptTo: (_to, _session, answer) => answer(refusal(530)) },
    kind: 'retry',
    isLocal: false,
  },
  {
    answer: '550 for the sender',
    options: { onMailFrom: (_from, _session, answer) => answer(refusal(550)) },
    kind: 'retry',
    isLocal: false,
  },
  {
    answer: '552 for the sender',
    options: { onMailFrom: (_from, _session, answer) => answer(refusal(552)) },
    kind: 'dead',
    isLocal: true,
  },
  {
    answer: '450 for the sender',
    options: { onMailFrom: (_from, _session, answer) => answer(refusal(450)) },
    kind: 'retry',
    isLocal: true,
  },
  {
    answer: '554 at the connection',
    options: { onConnect: (_session, answer) => answer(refusal(554)) },
    kind: 'retry',
    isLocal: false,
  },
  {
    answer: '554 for the content',
    options: { onData: (data, _session, answer) => void data.resume().on('end', () => answer(refusal(554))) },
    kind: 'dead',
    isLocal: true,
  },
  {
    answer: '452 for the content',
    options: { onData: (data, _session, answer) => void data.resume().on('end', () => answer(refusal(452))) },
    kind: 'retry',
    isLocal: true,
  },
])(
  'after $answer the outcome of the mail is "$kind", and concerns it alone: $isLocal',
  async ({ options, kind, isLocal }) => {
    expect(await outcomeAt(await serve(options))).toEqual([kind, isLocal])
  },
)

test('an address that no server takes is given up', async () => {
  expect(await outcomeAt(await serve({}), { ...mail, to: '' })).toEqual(['dead', true])
})

test('the connections to a server that keeps them without an answer are closed', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    socket.on('error', () => {})
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    const drip = setInterval(() => socket.write('2'), 50)
    socket.on('close', () => clearInterval(drip))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const clock = new ManualClock()
  const url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = smtpTransport(parseSmtpUrl(url)!, { sender, clock })
  const sent = Promise.all(Array.from({ length: 10 }, (_, index) => transport.send({ ...mail, key: String(index) })))
  await expect.poll(() => sockets.size).toBe(4)
  await clock.untilSleeping(10)
  await clock.advance(MAIL_MS)
  const reasons = (await sent).map((outcome) => (outcome.kind === 'retry' ? outcome.reason : outcome.kind))
  expect(new Set(reasons).size).toBeLessThanOrEqual(3)
  expect(reasons).toContain('the server took too long')
  expect(reasons).not.toContain('delivered')
  await expect.poll(() => sockets.size).toBe(0)
  await transport.close()
})
