import { jsonLog } from '@penstock/runtime'
import { expect, test } from 'vitest'
import { DeadLetterLog } from './dead-letter-log.ts'

function recorded() {
  const lines: Record<string, unknown>[] = []
  return { lines, log: new DeadLetterLog(jsonLog({ write: (line) => lines.push(JSON.parse(line)) }, () => 0)) }
}

test('a line per lane, class and hour; the next says how many there were', () => {
  const { lines, log } = recorded()
  for (const nowMs of [0, 1, 3_599_999]) log.dead('logs a', 'authentication', 'HTTP 401', nowMs)
  log.dead('logs b', 'authentication', 'HTTP 401', 1)
  log.dead('logs a', 'refused', 'HTTP 400', 1)
  log.dead('logs a', 'authentication', 'HTTP 403', 3_600_000)
  expect(lines.map(({ level, event, lane, reason, unsaid }) => [level, event, lane, reason, unsaid])).toEqual([
    ['error', 'export.authentication_refused', 'logs a', 'HTTP 401', undefined],
    ['error', 'export.authentication_refused', 'logs b', 'HTTP 401', undefined],
    ['warn', 'export.dead', 'logs a', 'HTTP 400', undefined],
    ['error', 'export.authentication_refused', 'logs a', 'HTTP 403', 2],
  ])
})

test('a clock that steps back silences nobody', () => {
  const { lines, log } = recorded()
  log.dead('logs a', 'refused', 'HTTP 400', 10_000_000)
  log.dead('logs a', 'refused', 'HTTP 400', 5)
  expect(lines).toHaveLength(2)
})
