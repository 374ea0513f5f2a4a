import { expect, test } from 'vitest'
import { signals } from '../../api/tokens.ts'
import { ingestToken, NOW_MS } from './management.harness.ts'
import {
  emptyTokenForm,
  expiryInstant,
  parseAmount,
  tokenDraft,
  tokenForm,
  tokenUpdate,
  toLocalInput,
} from './token-form-model.ts'

test('a name alone makes a token that never expires and has no limits', () => {
  expect(tokenDraft({ ...emptyTokenForm, name: ' render ' }, NOW_MS)).toEqual({
    body: { name: 'render', expires_at: null },
  })
})

test('every field of the form reaches the body', () => {
  const form = {
    ...emptyTokenForm,
    name: 'render',
    description: 'nightly',
    expiry: '90d' as const,
    signals: ['logs', 'traces'] as const,
    tags: 'team = web\n\nregion=eu=1',
    tenant: 'shop',
    origins: ' https://a.example \nhttps://*.b.example',
    certificateNames: 'DNS:render.example',
    allowQuery: true,
    limits: { 'limits.traces.second.requests': '20k', 'limits.all.day.bytes': '10 MB', 'limits.all.day.requests': '5' },
  }
  expect(tokenDraft(form, NOW_MS)).toEqual({
    body: {
      name: 'render',
      description: 'nightly',
      expires_at: '2026-06-08T12:00:00.000Z',
      signals: ['traces', 'logs'],
      tags: { team: 'web', region: 'eu=1' },
      tenant: 'shop',
      allowed_origins: ['https://a.example', 'https://*.b.example'],
      client_certificate_sans: ['DNS:render.example'],
      allow_query: true,
      limits: { all: { day: { requests: 5, bytes: 10_000_000 } }, traces: { second: { requests: 20_000 } } },
    },
  })
})

test('names every field to correct', () => {
  const form = {
    ...emptyTokenForm,
    expiry: 'date' as const,
    expiryDate: '2020-01-01T00:00',
    signals: [],
    tags: 'team',
    limits: { 'limits.all.day.bytes': '-1' },
  }
  const draft = tokenDraft(form, NOW_MS)
  const names = ['expires_at', 'limits.all.day.bytes', 'name', 'signals', 'tags']
  expect('errors' in draft && Object.keys(draft.errors).toSorted()).toEqual(names)
})

test('an update clears what was emptied, and an untouched form changes nothing', () => {
  const token = ingestToken({
    description: 'old',
    tenant: 'shop',
    tags: { team: 'web' },
    limits: { logs: { second: { bytes: 3 } } },
    expires_at: '2026-06-08T12:00:00.000Z',
    allow_query: true,
    signals: ['logs'],
  })
  const same = { description: 'old', tenant: 'shop', tags: { team: 'web' }, allow_query: true, signals: ['logs'] }
  expect(tokenUpdate(tokenForm(token), NOW_MS)).toMatchObject({
    body: { ...same, limits: token.limits, expires_at: token.expires_at },
  })
  expect(tokenUpdate({ ...emptyTokenForm, name: 'x' }, NOW_MS)).toEqual({
    body: {
      name: 'x',
      description: null,
      expires_at: null,
      signals,
      tags: {},
      tenant: null,
      allowed_origins: [],
      client_certificate_sans: [],
      allow_query: false,
      limits: null,
    },
  })
})

test('a date is one of the viewer, and lies in the future', () => {
  const at = '2026-06-08T12:00:00.000Z'
  expect(expiryInstant({ expiry: 'date', expiryDate: toLocalInput(at) }, NOW_MS)).toBe(at)
  expect(expiryInstant({ expiry: 'date', expiryDate: '' }, NOW_MS)).toBeUndefined()
  expect(expiryInstant({ expiry: '1y', expiryDate: '' }, NOW_MS)).toBe('2027-03-10T12:00:00.000Z')
})

test.each([
  ['500', 500],
  ['20k', 20_000],
  ['10 MB', 10_000_000],
  ['2G', 2_000_000_000],
  ['0', undefined],
  ['1.5k', undefined],
  ['999999999999999G', undefined],
])('reads the amount %j as %s', (text, amount) => {
  expect(parseAmount(text)).toBe(amount)
})
