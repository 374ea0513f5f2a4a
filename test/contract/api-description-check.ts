import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, ResponseObject>>
}

interface ResponseObject {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, unknown>>
}

export interface ObservedAnswer {
  readonly method: string
  /** The path without the query. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** The errors that no call describes, because they mean an unknown path or method. */
const undescribedErrors: Readonly<Record<number, string>> = { 404: 'not_found', 405: 'method_not_allowed' }
/** The headers that every answer with the status must have. */
const requiredHeaders: Readonly<Record<number, readonly string[]>> = {
  201: [],
  401: ['www-authenticate'],
  405: ['allow'],
  429: ['retry-after'],
  503: ['retry-after'],
}

/** Validates answers against an OpenAPI 3.1 document. */
export class ApiDescriptionCheck {
  readonly #paths: readonly {
    readonly pattern: RegExp
    readonly path: string
    readonly item: Record<string, Operation>
  }[]
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })
  readonly #validators = new Map<string, ValidateFunction>()
  /** The documented answers that have been observed, such as `createToken 201`. */
  readonly seen = new Set<string>()
  readonly documented: readonly string[]

  constructor(document: Readonly<Record<string, unknown>>) {
    this.#ajv.addSchema(document, 'api')
    const paths = document.paths as Record<string, Record<string, Operation>>
    this.#paths = Object.entries(paths)
      // A path without parameters precedes one that would match it as a parameter.
      .sort(([one], [other]) => one.split('{').length - other.split('{').length)
      .map(([path, item]) => ({ path, item, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
    this.documented = Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      ),
    )
  }

  /** Returns how the answer violates the description. */
  validate(answer: ObservedAnswer): string[] {
    const { method, path, status, headers } = answer
    const call = `${method} ${path}: ${status}`
    const missing = (requiredHeaders[status] ?? []).filter((name) => headers[name] === undefined)
    const problems = missing.map((name) => `${call} has no ${name}`)
    const code = answer.text === '' ? undefined : (JSON.parse(answer.text) as { error?: { code?: string } }).error?.code
    if (code !== undefined && undescribedErrors[status] === code) return problems

    const matching = this.#paths.filter(({ pattern }) => pattern.test(path))
    const found = matching.find(({ item }) => item[method.toLowerCase()] !== undefined)
    const operation = found?.item[method.toLowerCase()]
    if (found === undefined || operation === undefined) return [...problems, `${call} is not described`]
    const response = operation.responses[status]
    if (response === undefined) return [...problems, `${operation.operationId} does not describe ${status}`]
    this.seen.add(`${operation.operationId} ${status}`)
    return [...problems, ...this.#bodyProblems(found.path, response, answer).map((problem) => `${call} ${problem}`)]
  }

  #bodyProblems(path: string, response: ResponseObject, { method, status, headers, text }: ObservedAnswer): string[] {
    if (response.content === undefined) return text === '' ? [] : ['has a body']
    if (headers['content-type'] !== 'application/json; charset=utf-8') return [`is ${headers['content-type']}`]
    const pointer = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json']
    const validate = this.#validatorOf(`api#/${[...pointer, 'schema'].map(escaped).join('/')}`)
    return validate(JSON.parse(text)) ? [] : [this.#ajv.errorsText(validate.errors)]
  }

  #validatorOf(reference: string): ValidateFunction {
    const known = this.#validators.get(reference)
    if (known) return known
    const compiled = this.#ajv.compile({ $ref: reference })
    this.#validators.set(reference, compiled)
    return compiled
  }
}

/** Escapes one step of a JSON pointer for a URI. */
const escaped = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
