import { jsonLog } from '@penstock/runtime'
import { expect, test } from 'vitest'
import { DeadLetterLog } from './dead-letter-log.ts'

const one = { lane: 'logs a', scopes: ['project:5'] }

function recorded() {
  const lines: Record<string, unknown>[] = []
  return { lines, log: new DeadLetterLog(jsonLog({ write: (line) => lines.push(JSON.parse(line)) }, () => 0)) }
}

test('logs one line per lane, class and hour; the next line says how many were suppressed', () => {
  const { lines, log } = recorded()
  for (const nowMs of [0, 1, 3_599_999]) log.logDead('authentication', { ...one, reason: 'HTTP 401' }, nowMs)
  log.logDead('authentication', { ...one, lane: 'logs b', reason: 'HTTP 401' }, 1)
  log.logDead('refused', { ...one, reason: 'HTTP 400' }, 1)
  log.logDead('authentication', { ...one, reason: 'HTTP 403' }, 3_600_000)
  expect(lines.map(({ level, event, lane, reason, suppressed }) => [level, event, lane, reason, suppressed])).toEqual([
    ['error', 'export.authentication_refused', 'logs a', 'HTTP 401', undefined],
    ['error', 'export.authentication_refused', 'logs b', 'HTTP 401', undefined],
    ['warn', 'export.dead', 'logs a', 'HTTP 400', undefined],
    ['error', 'export.authentication_refused', 'logs a', 'HTTP 403', 2],
  ])
})

test('names the signal in each line', () => {
  const { lines, log } = recorded()
  log.logFailing({ lane: 'metrics core:uu4i', scopes: ['project:5'], reason: 'HTTP 503' }, 0)
  expect(lines).toMatchObject([{ signal: 'metrics', scopes: ['project:5'], lane: 'metrics core:uu4i' }])
})

test('names a few scopes with a refused credential right away, and again each hour', () => {
  const { lines, log } = recorded()
  const of = (scopes: string[], nowMs: number) =>
    log.logDead('authentication', { ...one, scopes, reason: 'HTTP 401' }, nowMs)
  for (const id of [7, 7, 8]) of([`project:${id}`], 0)
  of(['project:7', 'project:8', 'project:9'], 1)
  for (let id = 10; id < 20; id += 1) of([`project:${id}`], 2)
  of(['project:8'], 3_600_000)
  expect(lines.map(({ scopes, suppressed }) => [scopes, suppressed])).toEqual([
    [['project:7'], undefined],
    [['project:8', 'project:7'], 1],
    [['project:9'], undefined],
    [['project:10'], undefined],
    [['project:8', 'project:11', 'project:12', 'project:13', 'project:14'], 9],
  ])
})

test('names a few scopes per line: those of the first export, then those that no line has named', () => {
  const { lines, log } = recorded()
  const of = (scope: string, nowMs: number) =>
    log.logDead('refused', { ...one, scopes: [scope], reason: 'HTTP 400' }, nowMs)
  for (const nowMs of [0, 1, 2]) of('project:5', nowMs)
  for (let id = 6; id < 16; id += 1) of(`project:${id}`, 3)
  of('project:20', 3_600_000)
  of('project:20', 7_200_000)
  expect(lines.map(({ scopes, suppressed }) => [scopes, suppressed])).toEqual([
    [['project:5'], undefined],
    [['project:20', 'project:5', 'project:6', 'project:7', 'project:8'], 12],
    [['project:20'], undefined],
  ])
})
