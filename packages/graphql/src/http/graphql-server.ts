// The entry point of everything that needs graphql-js. The routes load it with the first request.
import type { Core } from '@penstock/core'
import type { Reply, RouteRequest } from '@penstock/http'
import type { GraphQLSchema } from 'graphql'
import { Engine } from '../engine/engine.ts'
import { MAX_BLOB_BYTES } from '../request/blob-budget.ts'
import { MAX_ITEMS } from '../request/item-budget.ts'
import { MAX_READ_CHARACTERS } from '../request/read-budget.ts'
import { MAX_TEXT_BYTES } from '../request/text-budget.ts'
import { withoutDeprecated } from '../schema/without-deprecated.ts'
import { createSchema } from '../schema.ts'
import { answer } from './answer.ts'
import type { Caller } from './caller.ts'
import { parseGraphqlRequest } from './graphql-request.ts'

export interface GraphqlOptions {
  readonly core: Core
  /** Default: 30 s. */
  readonly timeoutMs?: number
  /** The total size of several files in one response. Default: 20 MB. */
  readonly maxBlobBytes?: number
  /** The number of items in all lists of one response. Default: 30,000. */
  readonly maxItems?: number
  /** The total size of descriptions and commit messages in one response. Default: 8 MB. */
  readonly maxTextBytes?: number
  /** The number of characters that one request may read from the database. Default: 64,000,000. */
  readonly maxReadCharacters?: number
}

const TIMEOUT_MS = 30_000

/** Answers GraphQL requests. The caller and the size of a request have been checked. */
export class GraphqlServer {
  readonly #options
  readonly #schema: GraphQLSchema
  #fullEngine: Engine | undefined
  #reducedEngine: Engine | undefined

  constructor({
    core,
    timeoutMs = TIMEOUT_MS,
    maxBlobBytes = MAX_BLOB_BYTES,
    maxItems = MAX_ITEMS,
    maxTextBytes = MAX_TEXT_BYTES,
    maxReadCharacters = MAX_READ_CHARACTERS,
  }: GraphqlOptions) {
    this.#options = { core, timeoutMs, maxBlobBytes, maxItems, maxTextBytes, maxReadCharacters }
    this.#schema = createSchema(core.settings)
  }

  /** @throws GraphqlRequestError, and other errors that fail the whole request */
  async answer(request: RouteRequest, caller: Caller): Promise<Reply> {
    const graphqlRequest = parseGraphqlRequest(request)
    const engine = this.#engineFor(graphqlRequest.removesDeprecated)
    return answer({ ...this.#options, engine, request, caller, graphqlRequest })
  }

  #engineFor(removesDeprecated: boolean): Engine {
    if (removesDeprecated) {
      this.#reducedEngine ??= new Engine(withoutDeprecated(this.#schema))
      return this.#reducedEngine
    }
    this.#fullEngine ??= new Engine(this.#schema)
    return this.#fullEngine
  }
}
