import { type ParsedMail, simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { payloads } from './hostile-texts.harness.ts'
import { type Message, type Sender, toMail } from './message.ts'
import { parseSmtpUrl } from './smtp-transport.ts'

const sender: Sender = { name: 'Penstock', address: 'penstock@svc.example.test' }
const plain: Message = {
  to: 'mira@example.test',
  subject: 'Hello',
  text: 'Hello',
  html: '<p>Hello</p>',
  key: 'one',
  atMs: 0,
}

async function sent(message: Message, from = sender): Promise<{ parsed: ParsedMail; source: string; to: string[] }> {
  const builder = createTransport({ streamTransport: true, buffer: true })
  const { message: bytes, envelope } = await builder.sendMail(toMail(message, from))
  return { parsed: await simpleParser(bytes as Buffer), source: bytes.toString(), to: envelope.to as string[] }
}

const headerNames = ({ headerLines }: ParsedMail) => headerLines.map(({ key }) => key).sort()

test.each(payloads.map((payload) => [JSON.stringify(payload), payload]))(
  '%s in a subject or a name adds no header, recipient or content',
  async (_, payload) => {
    const expected = headerNames((await sent(plain)).parsed)
    const { parsed, to, source } = await sent({ ...plain, subject: payload }, { ...sender, name: payload })
    expect(headerNames(parsed)).toEqual(expected)
    expect(to).toEqual(['mira@example.test'])
    expect(parsed.from!.value.map(({ address }) => address)).toEqual(['penstock@svc.example.test'])
    expect([parsed.bcc, parsed.replyTo, parsed.text?.trim()]).toEqual([undefined, undefined, 'Hello'])
    expect(parsed.html).toBe('<p>Hello</p>')
    expect(source).not.toMatch(/^(?:bcc|reply-to):/im)
  },
)

test('a long subject is cut, and keeps whole characters', async () => {
  const { parsed } = await sent({ ...plain, subject: '🌱'.repeat(300) })
  expect(parsed.subject).toBe(`${'🌱'.repeat(199)}…`)
})

test('the same mail has the same Message-ID at each attempt', async () => {
  const idOf = async (message: Message) => (await sent(message)).parsed.messageId
  expect(await idOf(plain)).toBe(await idOf({ ...plain, subject: 'Again' }))
  expect(await idOf(plain)).not.toBe(await idOf({ ...plain, key: 'two' }))
})

test.each([
  ['smtp://mail.example.test', { host: 'mail.example.test', port: 587, secure: false, user: '', password: '' }],
  [
    'smtps://mira:p%40ss@mail.example.test',
    { host: 'mail.example.test', port: 465, secure: true, user: 'mira', password: 'p@ss' },
  ],
  ['smtp://[::1]:2525', { host: '::1', port: 2525, secure: false, user: '', password: '' }],
  ['http://mail.example.test', undefined],
  ['smtp://mail.example.test/x', undefined],
  ['smtp://mail.example.test?pool=1', undefined],
  ['smtp://%zz@mail.example.test', undefined],
  ['mail.example.test', undefined],
])('the server of %s', (url, server) => {
  expect(parseSmtpUrl(url)).toEqual(server)
})
