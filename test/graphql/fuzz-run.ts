import type { User } from '@penstock/core'
import { createSchema } from '@penstock/graphql'
import {
  buildASTSchema,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  parse,
  printSchema,
  specifiedRules,
  TypeInfo,
  VariablesInAllowedPositionRule,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { corruptions } from './corruptions.ts'
import { DocumentGenerator, type FuzzRequest, type KnownValues, SCORE } from './document-generator.ts'
import { type Population, populate } from './populate.ts'
import { Dice } from './random.ts'
import { type Answer, type Json, ServedWorld } from './served-world.ts'

const TIME_LIMIT_MS = 30_000
/** The number of documents per world. A new world is needed because mutations change it. */
const DOCUMENTS_PER_WORLD = 500

export interface FuzzFigures {
  documents: number
  /** Documents with `data` in the response. */
  executed: number
  withoutErrors: number
  rejected: number
  slowestMs: number
  /** The number of corrupted documents by kind of corruption. */
  readonly corrupted: Record<string, number>
  /** The fields of executed documents, as `Type.field`. */
  readonly fields: Set<string>
  readonly fieldsOfSchema: number
}

/**
 * Sends random documents of the schema, valid and corrupted, as different callers, one after another.
 *
 * @throws Error with seed, number and document of the first response that is not as documented
 */
export async function fuzz(count: number, seed: number): Promise<FuzzFigures> {
  let figures: FuzzFigures | undefined
  for (let sent = 0; sent < count; sent += DOCUMENTS_PER_WORLD) {
    const served = await ServedWorld.start()
    try {
      const run = new FuzzRun(served, await populate(served, { seed: seed + sent, size: 4 }), figures)
      figures = run.figures
      await run.start()
      const dice = new Dice(seed + sent)
      for (let index = 0; index < Math.min(DOCUMENTS_PER_WORLD, count - sent); index += 1) {
        await run.one(dice, `seed ${seed}, document ${sent + index}`)
      }
    } finally {
      await served.close()
    }
  }
  return figures!
}

class FuzzRun {
  readonly figures: FuzzFigures
  readonly #served: ServedWorld
  readonly #population: Population
  readonly #schema: GraphQLSchema
  readonly #unifiedSchema: GraphQLSchema
  readonly #callers: readonly (User | undefined)[]
  #known: KnownValues = { paths: [], usernames: [], texts: [], shas: [], ids: {} }

  constructor(served: ServedWorld, population: Population, figures?: FuzzFigures) {
    this.#served = served
    this.#population = population
    this.#schema = createSchema(served.world.core.settings)
    this.#unifiedSchema = buildASTSchema(unifyStringAndId(parse(printSchema(this.#schema))))
    this.#callers = [undefined, ...Object.values(population.people)]
    this.figures = figures ?? {
      ...{ documents: 0, executed: 0, withoutErrors: 0, rejected: 0, slowestMs: 0, corrupted: {}, fields: new Set() },
      fieldsOfSchema: fieldCount(this.#schema),
    }
  }

  async start(): Promise<void> {
    const { groups, projects, people } = this.#population
    const root = people.administrator
    const list = async (path: string): Promise<Json[]> => (await this.#served.rest(path, root)).body
    const listEach = async (kind: string) =>
      (await Promise.all(projects.map(({ id }) => list(`/projects/${id}/${kind}`)))).flat()
    const idsOf = async (kind: string) => (await listEach(kind)).map(({ id }: Json) => id)
    const commits = await listEach('repository/commits')
    this.#known = {
      paths: [...groups, ...projects].map(({ path }) => path),
      usernames: Object.values(people).map(({ username }) => username),
      texts: [
        'a',
        'Issue',
        'label 1 of /projects/1',
        'milestone 1 of /projects/1',
        'main',
        'README.md',
        '',
        'Ärger',
        '%',
        '2026-02-03',
      ],
      shas: commits.slice(0, 3).map(({ id }) => id),
      ids: {
        User: Object.values(people).map(({ id }) => id),
        Project: projects.map(({ id }) => id),
        Group: groups.map(({ id }) => id),
        Issue: await idsOf('issues'),
        MergeRequest: await idsOf('merge_requests'),
        Milestone: await idsOf('milestones'),
        Label: await idsOf('labels'),
        ProjectLabel: await idsOf('labels'),
        'Ci::Pipeline': await idsOf('pipelines'),
        'Ci::Build': await idsOf('jobs'),
        'Ci::Stage': [1, 2, 3],
        'Ci::Runner': [7],
      },
    }
  }

  async one(dice: Dice, name: string): Promise<void> {
    const generator = new DocumentGenerator(this.#schema, dice, this.#known)
    const valid = dice.is(0.15) ? generator.mutation() : generator.query()
    const corruption = dice.is(0.35) ? dice.pick(Object.keys(corruptions)) : undefined
    const request = corruption === undefined ? valid : corruptions[corruption]!(valid, dice, generator)
    const caller = dice.pick(this.#callers)
    try {
      const startMs = performance.now()
      const answer = await this.#send(request, dice, caller)
      const tookMs = performance.now() - startMs
      this.figures.slowestMs = Math.max(this.figures.slowestMs, tookMs)
      this.figures.documents += 1
      if (corruption !== undefined) this.figures.corrupted[corruption] = (this.figures.corrupted[corruption] ?? 0) + 1
      if (tookMs > TIME_LIMIT_MS) throw new Error(`took ${tookMs} ms`)
      this.#check(request, answer, caller)
    } catch (error) {
      const logLine = this.#served.logged.at(-1) ?? ''
      throw new Error(
        `${name}, ${corruption ?? 'valid'}, as ${caller?.username ?? 'anonymous'}: ${(error as Error).message}\n` +
          `${JSON.stringify(request)}\n${logLine}`,
        { cause: error },
      )
    }
  }

  /** Sends a request, mostly as JSON, sometimes in another form that the endpoint supports. */
  async #send(request: FuzzRequest, dice: Dice, caller: User | undefined): Promise<Answer> {
    const { query, variables, operationName } = request
    const form = dice.next()
    const parameters = () =>
      new URLSearchParams({
        query,
        ...(variables !== undefined && { variables: JSON.stringify(variables) }),
        ...(operationName !== undefined && { operationName }),
      })
    if (form < 0.05 && query.length < 2_000 && String(parameters()).length < 6_000) {
      return this.#served.send(`/api/graphql?${parameters()}`, caller, {})
    }
    if (form < 0.1) return this.#served.send('/api/graphql', caller, { method: 'POST', body: parameters() })
    const isBatch = form < 0.15
    return this.#served.send('/api/graphql', caller, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(isBatch ? [request, request] : request),
    })
  }

  #check({ query }: FuzzRequest, { status, body }: Answer, caller: User | undefined): void {
    if (status >= 500) throw new Error(`answered with ${status}`)
    const results: Json[] = Array.isArray(body) ? body : [body]
    const limit = caller === undefined ? 200 : 250
    const document = parsed(query)
    const scores = results.map((result) => {
      const hasErrors = Array.isArray(result.errors) && result.errors.length > 0
      if (result.data === undefined && !hasErrors && typeof result.error !== 'string') {
        throw new Error(`answered with neither data nor errors: ${JSON.stringify(result)}`)
      }
      if (result.errors !== undefined && !hasErrors) throw new Error('answered with an empty list of errors')
      if (result.data === undefined) return 0
      if (document === undefined) throw new Error('executed a document that cannot be parsed')
      const validationError = this.#validate(document)
      if (validationError !== undefined) throw new Error(`executed an invalid document: ${validationError.message}`)
      return result.data?.[SCORE]?.score ?? 0
    })
    const score = scores.reduce((sum, each) => sum + each, 0)
    if (score > limit) throw new Error(`executed with score ${score}, above ${limit}`)
    const executed = results.find(({ data }) => data !== undefined)
    if (executed?.data?.[SCORE] && executed.data[SCORE].limit !== limit) throw new Error('answered with a wrong limit')
    if (executed === undefined) {
      this.figures.rejected += 1
    } else {
      this.figures.executed += 1
      if (executed.errors === undefined) this.figures.withoutErrors += 1
      this.#count(document!)
    }
  }

  /** Returns the first validation error, apart from the exceptions that the endpoint makes for GitLab's documents. */
  #validate(document: DocumentNode): GraphQLError | undefined {
    const errors = validate(this.#schema, document, rulesExceptVariablePositions).filter(
      (each) => !isNumberForString(each),
    )
    return errors[0] ?? validate(this.#unifiedSchema, unifyStringAndId(document), [VariablesInAllowedPositionRule])[0]
  }

  #count(document: DocumentNode): void {
    const types = new TypeInfo(this.#schema)
    const { fields } = this.figures
    visit(
      document,
      visitWithTypeInfo(types, {
        Field({ name }) {
          if (!name.value.startsWith('__')) fields.add(`${types.getParentType()?.name}.${name.value}`)
        },
      }),
    )
  }
}

function parsed(query: string): DocumentNode | undefined {
  try {
    return parse(query)
  } catch {
    return undefined
  }
}

const rulesExceptVariablePositions = specifiedRules.filter((rule) => rule !== VariablesInAllowedPositionRule)

/** Replaces the type `String` by `ID`, because variables of each are accepted in place of the other. */
const unifyStringAndId = (document: DocumentNode): DocumentNode =>
  visit(document, {
    NamedType: (node) => (node.name.value === 'String' ? { ...node, name: { ...node.name, value: 'ID' } } : undefined),
  })

/** Returns whether the error is about a number in place of a string, which the argument `iid` accepts. */
const isNumberForString = ({ message }: GraphQLError): boolean =>
  /^String cannot represent a non string value: -?\d+$/.test(message)

/** Counts the fields of objects and interfaces. */
const fieldCount = (schema: GraphQLSchema): number =>
  Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__') ? Object.keys(type.getFields()) : [],
  ).length
