import type { EnforcementMode, EnforcementState, Readiness } from '../../api/answers.ts'
import { countClients } from '../../api/refused-names.ts'

/** A tone is the suffix of a class `is-…` of the style sheet. */
export type Tone = 'passed' | 'warning' | 'failed'

interface ModeRow {
  readonly mode: EnforcementMode
  readonly name: string
  readonly tone: Tone
  readonly summary: string
  readonly effect: string
}

/** The modes in the order of the select. */
export const modes: readonly ModeRow[] = [
  {
    mode: 'off',
    name: 'Off',
    tone: 'warning',
    summary: 'Off: all telemetry gets in',
    effect: 'Telemetry without a valid token gets in and is counted.',
  },
  {
    mode: 'report',
    name: 'Report',
    tone: 'warning',
    summary: 'Report: all telemetry gets in',
    effect: 'Telemetry without a valid token gets in, marked in the headers that the upstream receives.',
  },
  {
    mode: 'warn',
    name: 'Warn',
    tone: 'warning',
    summary: 'Warn: all telemetry gets in',
    effect: 'Telemetry without a valid token gets in, and the answer carries a warning once an hour.',
  },
  {
    mode: 'enforce',
    name: 'Enforce',
    tone: 'passed',
    summary: 'On: a token is required',
    effect: 'Telemetry without a valid token is refused.',
  },
]

export const modeRow = (mode: EnforcementMode): ModeRow => modes.find((row) => row.mode === mode)!

/** Returns the short statement about the current state. A grace period that has not ended is part of it. */
export function stateSummary({ mode, grace_until }: EnforcementState): { readonly text: string; readonly tone: Tone } {
  const { summary, tone } = modeRow(mode)
  return grace_until === null ? { text: summary, tone } : { text: 'On: refusals are retried', tone: 'warning' }
}

export const MAX_GRACE_SECONDS = 86_400

const unitSeconds: Readonly<Record<string, number>> = { '': 60, s: 1, sec: 1, m: 60, min: 60, h: 3_600 }

export type Grace = { readonly seconds: number } | { readonly problem: string }

/** Reads a grace period such as `15 min`, `90s` or `1 h`. A number alone is minutes, and no text is no grace. */
export function parseGrace(text: string): Grace {
  if (text.trim() === '') return { seconds: 0 }
  const match = /^(\d{1,6})\s*(|s|sec|m|min|h)$/i.exec(text.trim())
  if (match === null) return { problem: 'Write a duration such as 15 min, 90 s or 1 h.' }
  const seconds = Number(match[1]) * unitSeconds[match[2]!.toLowerCase()]!
  return seconds > MAX_GRACE_SECONDS ? { problem: 'A grace period lasts at most 24 h.' } : { seconds }
}

export interface StateChange {
  readonly enabled: boolean
  readonly mode: EnforcementMode
  readonly grace_seconds?: number
}

/** Returns the body of a request that sets a mode. Grace only exists while tokens are required. */
export function stateChange(mode: EnforcementMode, graceSeconds: number): StateChange {
  return mode === 'enforce' ? { enabled: true, mode, grace_seconds: graceSeconds } : { enabled: false, mode }
}

/** Returns the mode that the switch sets. */
export const toMode = (isOn: boolean): EnforcementMode => (isOn ? 'enforce' : 'off')

/** Returns whether a change of mode would refuse clients that get in now. It is confirmed first. */
export const refusesClients = (current: EnforcementMode, next: EnforcementMode, readiness: Readiness): boolean =>
  next === 'enforce' && current !== 'enforce' && (readiness.clients.length > 0 || readiness.would_reject > 0)

/** The lengths of the report. A short one shows who is left after senders got their tokens. */
export const reportWindows: readonly { readonly value: string; readonly name: string }[] = [
  { value: '24h', name: '24 h' },
  { value: '6h', name: '6 h' },
  { value: '1h', name: '1 h' },
  { value: '15m', name: '15 min' },
]

/** Returns the length that the address names, or the whole day. */
export const reportWindow = (value: string | null) =>
  reportWindows.find((row) => row.value === value) ?? reportWindows[0]!

/** Returns `1 client` or `3 clients`; the counts of pages follow the same rule. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** Returns the first sentence about clients that would be refused, and the share of their requests. */
export function refusalSummary(readiness: Readiness, window: string): { readonly lead: string; readonly rest: string } {
  const { clients, would_reject, requests } = readiness
  const count = countClients(clients)
  const share = `${would_reject.toLocaleString('en-US')} of ${counted(requests, 'request')} in the last ${window}`
  return {
    lead: `${counted(count, 'client')} would be refused.`,
    rest: `${count === 1 ? 'It' : 'They'} sent ${share}. Give each a token first, or enforce and refuse them.`,
  }
}
