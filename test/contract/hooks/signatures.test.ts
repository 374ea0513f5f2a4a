import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { describeWithProgram, preparedPaths } from '../../interop/prepared.ts'
import { GoClient } from '../core/client-go/go-client.ts'
import { HookedProject, type ReceivedCall, signingToken } from './hooked-project.ts'

interface Signed {
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Calls a webhook, and returns its request. */
async function receivedCall(): Promise<Signed> {
  const project = await HookedProject.start()
  await project.rest('POST', '/issues', { title: 'Ünïcode ☃ "quoted" \\ and\nlines' })
  const [call] = (await project.calls()) as [ReceivedCall]
  return { token: signingToken, headers: call.headers as Record<string, string>, body: call.text }
}

const otherToken = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const wrongSignature = `v1,${Buffer.alloc(32, 1).toString('base64')}`

/** Returns requests by what differs from the received one, with whether their signature is valid. */
function variantsOf(call: Signed): readonly (readonly [what: string, isValid: boolean, request: Signed])[] {
  const { headers, body } = call
  const signature = headers['webhook-signature']!
  const atMs = Number(headers['webhook-timestamp']) * 1_000
  const withHeaders = (more: Readonly<Record<string, string>>): Signed => ({
    ...call,
    headers: { ...headers, ...more },
  })
  const without = (name: string): Signed => {
    const { [name]: _, ...others } = headers
    return { ...call, headers: others }
  }
  /** Signs the request again, with the library itself. */
  const signedAt = (differenceSeconds: number): Signed => {
    const at = new Date(atMs + differenceSeconds * 1_000)
    return withHeaders({
      'webhook-timestamp': String(at.getTime() / 1_000),
      'webhook-signature': new Webhook(signingToken).sign(headers['webhook-id']!, at, body),
    })
  }
  return [
    ['nothing', true, call],
    [
      'a valid signature after others',
      true,
      withHeaders({ 'webhook-signature': `${wrongSignature} v2,AAAA ${signature}` }),
    ],
    ['a valid signature before others', true, withHeaders({ 'webhook-signature': `${signature} ${wrongSignature}` })],
    ['four minutes earlier, signed', true, signedAt(-240)],
    ['another body', false, { ...call, body: body.replace('Ünïcode', 'Unicode') }],
    ['a body with one more space', false, { ...call, body: `${body} ` }],
    ['another id', false, withHeaders({ 'webhook-id': 'b3b0e8b6-5d5a-4d3c-8f53-000000000000' })],
    ['another time', false, withHeaders({ 'webhook-timestamp': String(atMs / 1_000 + 1) })],
    ['six minutes earlier, signed', false, signedAt(-360)],
    ['six minutes later, signed', false, signedAt(360)],
    ['another secret', false, { ...call, token: otherToken }],
    ['only wrong signatures', false, withHeaders({ 'webhook-signature': `${wrongSignature} ${wrongSignature}` })],
    ['another version', false, withHeaders({ 'webhook-signature': signature.replace('v1,', 'v2,') })],
    ['no signature', false, without('webhook-signature')],
    ['no id', false, without('webhook-id')],
    ['no time', false, without('webhook-timestamp')],
  ]
}

/** Verifies with the library of one language. Returns the reasons of refusals; null for a valid signature. */
type Verify = (requests: readonly Signed[]) => Promise<readonly (string | null)[]>

async function expectVerdicts(verify: Verify): Promise<void> {
  const variants = variantsOf(await receivedCall())
  const refusals = await verify(variants.map(([, , request]) => request))
  expect(variants.map(([what], index) => [what, refusals[index] === null])).toEqual(
    variants.map(([what, isValid]) => [what, isValid]),
  )
}

const verifyInJavaScript: Verify = async (requests) =>
  requests.map(({ token, headers, body }) => {
    try {
      new Webhook(token).verify(body, headers)
      return null
    } catch (error) {
      if (error instanceof WebhookVerificationError) return error.message
      throw error
    }
  })

const verifyInPython: Verify = async (requests) => {
  const script = join(import.meta.dirname, 'verify_signatures.py')
  return JSON.parse(execFileSync(preparedPaths().python, [script], { input: JSON.stringify(requests) }).toString())
}

const verifyInGo: Verify = async (requests) => {
  const client = new GoClient('http://127.0.0.1:1')
  onTestFinished(() => client.close())
  const refusals: (string | null)[] = []
  for (const { token, headers, body } of requests) {
    const { result } = await client.call('', 'ParseWebhook', headers, body, token)
    refusals.push(result.refusal === '' ? null : result.refusal)
  }
  return refusals
}

test('the Standard Webhooks library for JavaScript accepts our signatures, and refuses changed requests', () =>
  expectVerdicts(verifyInJavaScript))

describeWithProgram('Standard Webhooks in Python', ['pythonIsComplete'], () => {
  test('the library accepts our signatures, and refuses changed requests', () => expectVerdicts(verifyInPython))
})

describeWithProgram('Standard Webhooks in Go', ['goClient'], () => {
  test('the library accepts our signatures, and refuses changed requests', () => expectVerdicts(verifyInGo))
})
