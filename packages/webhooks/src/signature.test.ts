import { expect, test } from 'vitest'
import { signatureHeaders } from './signature.ts'

/** The first is from the documentation of Standard Webhooks' authors; the Python library made the second. */
test.each([
  {
    token: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    atMs: 1_614_265_330_000,
    body: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    token: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    id: 'msg-1',
    atMs: 1_790_000_000_999,
    body: '{"object_kind":"push","t":"ä☃"}',
    signature: 'v1,RaRKQf7toYnAzjwbaQJ/sYF5w4IDO3EG5ZL5u/uIpQM=',
  },
])('signs $id like the libraries of Standard Webhooks', ({ token, id, atMs, body, signature }) => {
  expect(signatureHeaders(token, { id, atMs, body: Buffer.from(body) })).toEqual({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': signature,
  })
})
