import { expect, test } from 'vitest'
import { signalChoice } from './command-variables.ts'

test.each([
  { value: 'traces', signals: ['traces'], unknownWords: [] },
  { value: ' Logs ,TRACES,logs', signals: ['traces', 'logs'], unknownWords: [] },
  { value: 'traces, tracing,spans,tracing', signals: ['traces'], unknownWords: ['tracing', 'spans'] },
  { value: 'true', signals: [], unknownWords: ['true'] },
  { value: '', signals: [], unknownWords: [] },
  { value: ' , ', signals: [], unknownWords: [] },
])('"$value" selects $signals', ({ value, signals, unknownWords }) => {
  const variable = 'SVC_OBSERVABILITY_EXPORT'
  expect(signalChoice({ [variable]: value })).toEqual({ variable, signals, unknownWords })
})

test('a missing variable selects nothing', () => {
  expect(signalChoice({})).toBeUndefined()
})

test('the variable contains the name of the service', () => {
  const env = {
    PENSTOCK_SERVICE_NAME: 'gitlab',
    GITLAB_OBSERVABILITY_EXPORT: 'logs',
    SVC_OBSERVABILITY_EXPORT: 'traces',
  }
  expect(signalChoice(env)).toMatchObject({ variable: 'GITLAB_OBSERVABILITY_EXPORT', signals: ['logs'] })
})
