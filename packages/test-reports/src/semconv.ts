/** The names that test reports emit: constants of the semantic conventions, and our own names. */
export {
  ATTR_CODE_FILE_PATH,
  ATTR_CODE_LINE_NUMBER,
  ATTR_EXCEPTION_MESSAGE,
  ATTR_EXCEPTION_STACKTRACE,
  ATTR_EXCEPTION_TYPE,
  ATTR_TEST_CASE_NAME,
  ATTR_TEST_CASE_RESULT_STATUS,
  ATTR_TEST_SUITE_NAME,
  ATTR_TEST_SUITE_RUN_STATUS,
} from '@opentelemetry/semantic-conventions/incubating'

/** The version of the semantic-convention registry that the names follow. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.45.0'

export const EVENT_EXCEPTION = 'exception'
/** The attribute of the point with everything beyond a limit on streams, as the metrics SDK has it. */
export const ATTR_OTEL_METRIC_OVERFLOW = 'otel.metric.overflow'

// `svc.` means the vendor namespace; it is replaced when another one is configured.
export const ATTR_SVC_TEST_CASE_RESULT = 'svc.test.case.result'
export const ATTR_SVC_TEST_CASE_CLASS = 'svc.test.case.class'
export const ATTR_SVC_TEST_CASE_ATTEMPT = 'svc.test.case.attempt'
export const METRIC_SVC_TEST_SUITE_DURATION = 'svc.test.suite.duration'
export const METRIC_SVC_TEST_CASE_COUNT = 'svc.test.case.count'
