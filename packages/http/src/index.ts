export { BuildQueue, TooManyAnswers } from './answers/build-queue.ts'
export { JsonAnswer } from './answers/json-answer.ts'
export { UnreadAnswers } from './answers/unread-answers.ts'
export { MalformedForm } from './bodies/malformed-form.ts'
export type { FormRules } from './bodies/read-body.ts'
export { ClientGone, parseJson, readBytes, requireUncompressed } from './bodies/read-json.ts'
export { type FormEntry, isStoredFile } from './bodies/read-multipart.ts'
export { type RequestErrorKind, RequestProblem } from './bodies/request-problem.ts'
export { TooManyUploads, UploadSpace } from './bodies/upload-space.ts'
export { urlEncodedEntries } from './bodies/urlencoded.ts'
export type { RefusalForm } from './listening/broken-request.ts'
export { type ConnectionLimits, ConnectionTable } from './listening/connection-table.ts'
export { type Listening, type ListenOptions, listen } from './listening/listen.ts'
export { listenerFull } from './listening/listener-full.ts'
export { type CaptchaAnswer, captchaAnswerIn } from './routes/captcha.ts'
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
} from './routes/credentials.ts'
export { Html, html } from './routes/html.ts'
export { openApiDocument } from './routes/openapi.ts'
export { factsIn } from './routes/request-facts.ts'
export {
  type Admitted,
  guarded,
  type Incoming,
  type Method,
  parsePathParameters,
  type Reply,
  type ResponseRow,
  type Route,
  type RouteRequest,
  type RouteShape,
  type ServedRoute,
  unguarded,
  withPathParameters,
} from './routes/route.ts'
export { apiHeaders, type ServeOptions, serveRoutes, strictTransportHeaders } from './routes/serve-routes.ts'
export { readStaticFiles, type StaticFile } from './routes/static-files.ts'
