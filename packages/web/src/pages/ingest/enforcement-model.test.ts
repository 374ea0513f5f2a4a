import { expect, test } from 'vitest'
import { countClients, refusedNames } from '../../api/refused-names.ts'
import {
  counted,
  parseGrace,
  refusalSummary,
  refusesClients,
  reportWindow,
  stateChange,
  stateSummary,
  toMode,
} from './enforcement-model.ts'
import { createReadiness, createState, refusedClient } from './management.harness.ts'

test.each([
  ['', 0],
  ['15 min', 900],
  ['15', 900],
  ['90s', 90],
  ['1 H', 3_600],
  ['24h', 86_400],
])('reads the grace %j as seconds', (text, seconds) => {
  expect(parseGrace(text)).toEqual({ seconds })
})

test.each(['25 h', 'soon', '-1', '1.5 h', '15 minutes'])('refuses the grace %j with what to write', (text) => {
  expect(parseGrace(text)).toHaveProperty('problem')
})

test('sends grace only while tokens are required', () => {
  expect(stateChange('enforce', 900)).toEqual({ enabled: true, mode: 'enforce', grace_seconds: 900 })
  expect(stateChange('warn', 900)).toEqual({ enabled: false, mode: 'warn' })
  expect([toMode(true), toMode(false)]).toEqual(['enforce', 'off'])
})

test('asks for a confirmation only if clients that get in now would be refused', () => {
  const clients = createReadiness([refusedClient()])
  expect(refusesClients('off', 'enforce', clients)).toBe(true)
  expect(refusesClients('off', 'enforce', createReadiness([]))).toBe(false)
  expect(refusesClients('off', 'warn', clients)).toBe(false)
  expect(refusesClients('enforce', 'enforce', clients)).toBe(false)
})

test('names the services once, and counts the clients without one', () => {
  const names = [['render'], ['checkout', 'cart'], [], ['render'], []]
  const clients = names.map((service_names) => refusedClient({ service_names }))
  expect(refusedNames(clients)).toEqual({ services: ['render', 'checkout', 'cart'], unnamed: 2 })
  expect(countClients(clients)).toBe(5)
  // Two signals of one service are two rows of the report, and one client.
  expect(countClients([refusedClient(), refusedClient()])).toBe(1)
})

test('says how many clients and requests would be refused', () => {
  const readiness = {
    ...createReadiness([refusedClient(), refusedClient({ service_names: ['cart'] })]),
    would_reject: 1_284,
    requests: 51_217,
  }
  const { lead, rest } = refusalSummary(readiness, '24 h')
  expect(lead).toBe('2 clients would be refused.')
  expect(rest).toContain('They sent 1,284 of 51,217 requests in the last 24 h.')
  expect(refusalSummary(createReadiness([refusedClient()]), '1 h').rest).toMatch(/^It sent /)
  expect([counted(1, 'token'), counted(0, 'token')]).toEqual(['1 token', '0 tokens'])
})

test('says in the summary that a grace period has not ended', () => {
  expect(stateSummary(createState('off'))).toEqual({ text: 'Off: all telemetry gets in', tone: 'warning' })
  expect(stateSummary(createState('enforce'))).toEqual({ text: 'On: a token is required', tone: 'passed' })
  expect(stateSummary({ ...createState('enforce'), grace_until: '2026-01-01T00:15:00Z' }).tone).toBe('warning')
})

test('the report covers a day unless the address names another length', () => {
  expect([reportWindow(null), reportWindow('15m'), reportWindow('2y')].map(({ name }) => name)).toEqual([
    '24 h',
    '15 min',
    '24 h',
  ])
})
