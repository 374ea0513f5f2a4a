import { MAX_VALUE_BYTES } from '@penstock/converter'
import type { AnyValue, KeyValue } from '@penstock/otlp'
import { MAX_STACKTRACE_BYTES, type TestCase, type TestFailure, type TestSuite } from './report.ts'
import {
  ATTR_CODE_FILE_PATH,
  ATTR_CODE_LINE_NUMBER,
  ATTR_EXCEPTION_MESSAGE,
  ATTR_EXCEPTION_STACKTRACE,
  ATTR_EXCEPTION_TYPE,
  ATTR_SVC_TEST_CASE_ATTEMPT,
  ATTR_SVC_TEST_CASE_CLASS,
  ATTR_SVC_TEST_CASE_RESULT,
  ATTR_TEST_CASE_NAME,
  ATTR_TEST_CASE_RESULT_STATUS,
  ATTR_TEST_SUITE_NAME,
  ATTR_TEST_SUITE_RUN_STATUS,
} from './semconv.ts'
import { suiteStatus } from './suite-status.ts'

/** An attribute, with its meaning for the documentation. */
export interface AttributeRow<Item> {
  readonly key: string
  readonly type: 'string' | 'int'
  /** The attribute is left out if this returns undefined. */
  readonly from: (item: Item) => string | number | undefined
  readonly about: string
}

export const suiteAttributes: readonly AttributeRow<TestSuite>[] = [
  { key: ATTR_TEST_SUITE_NAME, type: 'string', from: ({ name }) => name, about: 'name of the suite' },
  {
    key: ATTR_TEST_SUITE_RUN_STATUS,
    type: 'string',
    from: suiteStatus,
    about: '`failure` if a case failed in its last attempt, `skipped` if all were skipped, else `success`',
  },
]

const resultStatus = { passed: 'pass', failed: 'fail', error: 'fail', skipped: undefined } as const

export const caseAttributes: readonly AttributeRow<TestCase>[] = [
  { key: ATTR_TEST_CASE_NAME, type: 'string', from: ({ name }) => name, about: 'name of the case' },
  {
    key: ATTR_TEST_CASE_RESULT_STATUS,
    type: 'string',
    from: ({ result }) => resultStatus[result],
    about: '`pass` or `fail`; absent if it was skipped',
  },
  {
    key: ATTR_SVC_TEST_CASE_RESULT,
    type: 'string',
    from: ({ result }) => result,
    about: '`passed`, `failed`, `error` or `skipped`',
  },
  {
    key: ATTR_SVC_TEST_CASE_CLASS,
    type: 'string',
    from: ({ className }) => className,
    about: 'the class of the report',
  },
  {
    key: ATTR_SVC_TEST_CASE_ATTEMPT,
    type: 'int',
    from: ({ attempt }) => attempt,
    about: 'number of the attempt, from 1; the last one decides',
  },
  {
    key: ATTR_CODE_FILE_PATH,
    type: 'string',
    from: ({ file }) => file,
    about: 'file, from the report or a stack frame',
  },
  { key: ATTR_CODE_LINE_NUMBER, type: 'int', from: ({ line }) => line, about: 'line, from 1' },
]

/** Attributes of the event `exception`. */
export const failureAttributes: readonly AttributeRow<TestFailure>[] = [
  { key: ATTR_EXCEPTION_TYPE, type: 'string', from: ({ type }) => type, about: 'type of the failure' },
  {
    key: ATTR_EXCEPTION_MESSAGE,
    type: 'string',
    from: ({ message }) => message,
    about: `message, at most ${MAX_VALUE_BYTES} bytes`,
  },
  {
    key: ATTR_EXCEPTION_STACKTRACE,
    type: 'string',
    from: ({ stacktrace }) => stacktrace,
    about: `text of the failure, at most ${MAX_STACKTRACE_BYTES} bytes`,
  },
]

/** Returns the key with the configured vendor namespace. */
export const namespaced = (key: string, vendorNamespace: string): string => key.replace(/^svc\./, `${vendorNamespace}.`)

export function attributesFrom<Item>(
  table: readonly AttributeRow<Item>[],
  item: Item,
  vendorNamespace: string,
): KeyValue[] {
  return table.flatMap(({ key, type, from }) => {
    const value = from(item)
    return value === undefined ? [] : [{ key: namespaced(key, vendorNamespace), ...anyValue(type, value) }]
  })
}

const anyValue = (type: 'string' | 'int', value: string | number): AnyValue =>
  type === 'int' ? { type, value: BigInt(value) } : { type, value: String(value) }
