import { expect, test } from 'vitest'
import { sessionSecretIn } from './credentials.ts'

const [mine, planted] = ['a'.repeat(64), 'b'.repeat(64)]

test.each([
  [`_svc_session=${mine}`, mine],
  [`a=1; _svc_session=${mine}; b=2`, mine],
  [`_svc_session=${planted}; _svc_session=${mine}`, undefined],
  [`_svc_session=${mine}; _svc_session=x`, undefined],
  ['_svc_session=x', undefined],
  [`__svc_session=${mine}`, undefined],
])('the secret of the session in the cookies %j is %j', (cookie, expected) => {
  expect(sessionSecretIn({ cookie }, 'svc')).toBe(expected)
})
