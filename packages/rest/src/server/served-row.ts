import { DomainError, perform, requireCaller, toRequestFacts } from '@penstock/core'
import {
  type BuildQueue,
  type FormRules,
  factsIn,
  type Reply,
  type RouteRequest,
  type ServedRoute,
} from '@penstock/http'
import { z } from 'zod'
import { toRestError } from '../routing/error-response.ts'
import { API_PREFIX, type RestRoute } from '../routing/route.ts'
import { boundedReply, changeTooLargeToShow } from './bounded-query.ts'
import { redirectFormerPath } from './former-path.ts'
import {
  bodyRulesFor,
  type CallerDeps,
  callerByHeaders,
  callerOfRequest,
  type EarlyCaller,
  throttledUserId,
} from './row-caller.ts'
import { type InputDeps, operationInput, requestParameters, requireJsonFormat } from './row-input.ts'
import { replyTo } from './row-reply.ts'

export interface RowDeps extends CallerDeps, InputDeps {
  readonly longAnswers: BuildQueue
}

/** The body schema of all routes: an optional body, for any method. */
const optionalBody = z.unknown()

/** Converts a row of the REST API to a route of the HTTP package. */
export function servedRow(row: RestRoute, deps: RowDeps): ServedRoute {
  return {
    method: row.method,
    path: `${API_PREFIX}${row.path}${row.endsInName ? '' : '{.json}'}`,
    body: optionalBody,
    forms: formRulesOf(row),
    async admit(incoming) {
      await deps.throttle?.requireFailureAllowance(incoming)
      const early = await callerByHeaders(row, incoming, deps)
      await deps.throttle?.count(incoming, throttledUserId(early))
      requireJsonFormat(row, incoming)
      const { fileLimitBytes } = row
      const ofSettings = typeof fileLimitBytes === 'function' && { fileLimitBytes: await fileLimitBytes(deps.core) }
      const forms = ofSettings && { forms: { ...formRulesOf(row), ...ofSettings } }
      return { handle: (request) => answer(row, request, early, deps), ...forms, ...bodyRulesFor(row, early) }
    },
  }
}

/** Returns the body rules of a row, without a limit that depends on the settings. */
function formRulesOf(row: RestRoute): FormRules {
  return {
    ...(row.bodyLimitBytes !== undefined && { limitBytes: row.bodyLimitBytes }),
    ...(row.jsonLimits !== undefined && { jsonLimits: row.jsonLimits }),
    ...(typeof row.fileLimitBytes === 'number' && { fileLimitBytes: row.fileLimitBytes }),
    ...(row.filesOnDisk && { filesOnDisk: true }),
    ...(row.bodyTextAs !== undefined && { keepsBytes: true }),
  }
}

async function answer(row: RestRoute, request: RouteRequest, early: EarlyCaller, deps: RowDeps): Promise<Reply> {
  const { core } = deps
  const parameters = requestParameters(row, request)
  const { actor } = await callerOfRequest(row, request, parameters.values, early, deps)
  try {
    requireCaller(actor, row.operation.caller)
    const input = await operationInput(row, request, parameters, deps)
    const facts = toRequestFacts(factsIn(request, core.settings.serviceName))
    // Files are exempt: they have limits of their own, and are sent as streams.
    if (row.operation.work.kind === 'query' && row.shape !== undefined) {
      return await boundedReply({ row, request, parameters, core, actor, input, facts, queue: deps.longAnswers })
    }
    const result = await perform(core, actor, row.operation, input, { request: facts })
    const built = await replyTo(result, { row, request, parameters, core })
    if (built.kind === 'too_large') throw changeTooLargeToShow(built.member)
    return built.reply
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    await redirectFormerPath(row, error, { routePath: API_PREFIX + row.path, request, core, actor })
    throw toRestError(error, row)
  }
}
