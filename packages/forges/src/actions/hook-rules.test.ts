import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { forges } from '../forges.ts'

const credentials = { tokenDigests: [], secretTokens: [Buffer.from('old'), Buffer.from('secret')], signingKeys: [] }
const body = Buffer.from('{"action":"completed"}')
const digest = createHmac('sha256', 'secret').update(body).digest('hex')
const wrong = digest.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))

test.each([
  ['github', { 'x-hub-signature-256': `sha256=${digest}` }, undefined],
  ['github', { 'x-hub-signature-256': `sha256=${wrong}` }, 'signature_wrong'],
  ['github', { 'x-hub-signature': `sha1=${digest}` }, 'signature_missing'],
  ['github', { 'x-gitea-signature': digest }, 'signature_missing'],
  ['gitea', { 'x-gitea-signature': digest }, undefined],
  ['gitea', { 'x-gitea-signature': wrong }, 'signature_wrong'],
  ['gitea', {}, 'signature_missing'],
  ['forgejo', { 'x-forgejo-signature': digest, 'x-gitea-signature': wrong }, undefined],
  ['forgejo', { 'x-gitea-signature': digest }, undefined],
  ['forgejo', { 'x-forgejo-signature': wrong }, 'signature_wrong'],
] as const)('%s: %j', (forge, headers, refusal) => {
  const { hooks } = forges[forge]
  const early = hooks.validateHeaders(credentials, { headers, serviceName: 'x', nowMs: 0 })
  expect(early ?? hooks.validateSignature(credentials, headers, body)).toBe(refusal)
})

test.each([
  ['github', { 'x-github-event': 'workflow_run' }],
  ['gitea', { 'x-gitea-event': 'workflow_job', 'x-github-event': 'workflow_job' }],
  ['forgejo', { 'x-forgejo-event': 'action_run_recover' }],
  ['forgejo', { 'x-gitea-event': 'action_run_success' }],
] as const)('%s reads the events of %j', (forge, headers) => {
  const { hooks } = forges[forge]
  expect(hooks.recordEvents).toContain(hooks.event(headers, 'x'))
})
