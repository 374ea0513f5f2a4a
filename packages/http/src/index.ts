export { BuildQueue, TooManyAnswers } from './answers/build-queue.ts'
export { JsonAnswer } from './answers/json-answer.ts'
export { UnreadAnswers, type UnreadLimits } from './answers/unread-answers.ts'
export type { RefusalForm } from './broken-request.ts'
export { type CaptchaAnswer, captchaAnswerIn } from './captcha.ts'
export { type ConnectionLimits, ConnectionTable } from './connection-table.ts'
export {
  bearerTokenIn,
  cookieIn,
  cookiesIn,
  csrfProofIn,
  headerIn,
  parameterText,
  sessionCookieName,
  sessionSecretIn,
  singleParameter,
} from './credentials.ts'
export { Html, html } from './html.ts'
export { type Listening, type ListenOptions, listen } from './listen.ts'
export { listenerFull } from './listener-full.ts'
export { MalformedForm } from './malformed-form.ts'
export { type ApiDescription, openApiDocument } from './openapi.ts'
export type { FormRules } from './read-body.ts'
export { ClientGone, defaultJsonLimits, parseJson, readBytes, requireUncompressed } from './read-json.ts'
export { type FormEntry, isStoredFile, type StoredFile, type UploadedFile } from './read-multipart.ts'
export { factsIn } from './request-facts.ts'
export { type RequestErrorKind, RequestProblem } from './request-problem.ts'
export {
  type Admitted,
  guarded,
  type Incoming,
  type Method,
  pathParametersOf,
  type Reply,
  type ResponseRow,
  type Route,
  type RouteDocumentation,
  type RouteRequest,
  type RouteShape,
  type ServedRoute,
  unguarded,
  withPathParameters,
} from './route.ts'
export { apiHeaders, type ServeOptions, serveRoutes, strictTransportHeaders } from './serve-routes.ts'
export { readStaticFiles, type StaticFile } from './static-files.ts'
export { TooManyUploads, UploadSpace } from './upload-space.ts'
export { urlEncodedEntries } from './urlencoded.ts'
