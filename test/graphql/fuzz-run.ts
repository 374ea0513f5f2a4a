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
import { DocumentGenerator, type Known, type Question, SCORE } from './documents.ts'
import { type Population, populate } from './populate.ts'
import { Dice } from './random.ts'
import { type Answer, type Json, ServedWorld } from './served-world.ts'
import { spoilings } from './spoil.ts'

const TIME_LIMIT_MS = 30_000
/** So often the world is made anew, as documents change it. */
const PER_WORLD = 500

export interface FuzzFigures {
  documents: number
  /** With `data`. */
  executed: number
  withoutErrors: number
  refused: number
  slowestMs: number
  /** By what was wrong with the document. */
  readonly spoilt: Record<string, number>
  /** `Type.field`, of documents that were executed. */
  readonly fields: Set<string>
  readonly fieldsOfSchema: number
}

/**
 * Sends documents made from the schema, sound and spoilt, as different people, one after the other.
 *
 * @throws Error with seed, number and document of the first answer that breaks a promise
 */
export async function fuzz(count: number, seed: number): Promise<FuzzFigures> {
  let figures: FuzzFigures | undefined
  for (let made = 0; made < count; made += PER_WORLD) {
    const served = await ServedWorld.start()
    try {
      const run = new FuzzRun(served, await populate(served, { seed: seed + made, size: 4 }), figures)
      figures = run.figures
      await run.start()
      const dice = new Dice(seed + made)
      for (let index = 0; index < Math.min(PER_WORLD, count - made); index += 1) {
        await run.one(dice, `seed ${seed}, document ${made + index}`)
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
  readonly #oneType: GraphQLSchema
  readonly #callers: readonly (User | undefined)[]
  #known: Known = { paths: [], usernames: [], texts: [], shas: [], ids: {} }

  constructor(served: ServedWorld, population: Population, figures?: FuzzFigures) {
    this.#served = served
    this.#population = population
    this.#schema = createSchema(served.world.core.settings)
    this.#oneType = buildASTSchema(oneType(parse(printSchema(this.#schema))))
    this.#callers = [undefined, ...Object.values(population.people)]
    this.figures = figures ?? {
      ...{ documents: 0, executed: 0, withoutErrors: 0, refused: 0, slowestMs: 0, spoilt: {}, fields: new Set() },
      fieldsOfSchema: fieldCount(this.#schema),
    }
  }

  async start(): Promise<void> {
    const { groups, projects, people } = this.#population
    const root = people.administrator
    const list = async (path: string): Promise<Json[]> => (await this.#served.rest(path, root)).body
    const ofEach = async (of: string) =>
      (await Promise.all(projects.map(({ id }) => list(`/projects/${id}/${of}`)))).flat()
    const idsOf = async (of: string) => (await ofEach(of)).map(({ id }: Json) => id)
    const commits = await ofEach('repository/commits')
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
    const sound = dice.is(0.15) ? generator.mutation() : generator.query()
    const spoiling = dice.is(0.35) ? dice.pick(Object.keys(spoilings)) : undefined
    const question = spoiling === undefined ? sound : spoilings[spoiling]!(sound, dice, generator)
    const caller = dice.pick(this.#callers)
    try {
      const startMs = performance.now()
      const answer = await this.#send(question, dice, caller)
      const tookMs = performance.now() - startMs
      this.figures.slowestMs = Math.max(this.figures.slowestMs, tookMs)
      this.figures.documents += 1
      if (spoiling !== undefined) this.figures.spoilt[spoiling] = (this.figures.spoilt[spoiling] ?? 0) + 1
      if (tookMs > TIME_LIMIT_MS) throw new Error(`took ${tookMs} ms`)
      this.#judge(question, answer, caller)
    } catch (error) {
      const said = this.#served.logged.at(-1) ?? ''
      throw new Error(
        `${name}, ${spoiling ?? 'sound'}, as ${caller?.username ?? 'nobody'}: ${(error as Error).message}\n` +
          `${JSON.stringify(question)}\n${said}`,
        { cause: error },
      )
    }
  }

  /** As JSON mostly; also as the other forms that the endpoint takes. */
  async #send(question: Question, dice: Dice, caller: User | undefined): Promise<Answer> {
    const { query, variables, operationName } = question
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
      body: JSON.stringify(isBatch ? [question, question] : question),
    })
  }

  #judge({ query }: Question, { status, body }: Answer, caller: User | undefined): void {
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
      if (document === undefined) throw new Error('executed what cannot be parsed')
      const flaw = this.#flawOf(document)
      if (flaw !== undefined) throw new Error(`executed what is not valid: ${flaw.message}`)
      return result.data?.[SCORE]?.score ?? 0
    })
    const score = scores.reduce((sum, each) => sum + each, 0)
    if (score > limit) throw new Error(`executed for ${score}, above ${limit}`)
    const executed = results.find(({ data }) => data !== undefined)
    if (executed?.data?.[SCORE] && executed.data[SCORE].limit !== limit) throw new Error('told of another limit')
    if (executed === undefined) {
      this.figures.refused += 1
    } else {
      this.figures.executed += 1
      if (executed.errors === undefined) this.figures.withoutErrors += 1
      this.#count(document!)
    }
  }

  /** What is wrong by the rules of the language, but for what the contract takes nonetheless. */
  #flawOf(document: DocumentNode): GraphQLError | undefined {
    const flaws = validate(this.#schema, document, rulesOfOneType).filter((each) => !isNumberForText(each))
    return flaws[0] ?? validate(this.#oneType, oneType(document), [VariablesInAllowedPositionRule])[0]
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

const rulesOfOneType = specifiedRules.filter((rule) => rule !== VariablesInAllowedPositionRule)

/** Variables of texts and of ids stand in each other's place, and in no other: as if the two were one type. */
const oneType = (document: DocumentNode): DocumentNode =>
  visit(document, {
    NamedType: (node) => (node.name.value === 'String' ? { ...node, name: { ...node.name, value: 'ID' } } : undefined),
  })

/** The number of an iid, which is a text here. */
const isNumberForText = ({ message }: GraphQLError): boolean =>
  /^String cannot represent a non string value: -?\d+$/.test(message)

/** Of interfaces too: what is asked of one is counted as its. */
const fieldCount = (schema: GraphQLSchema): number =>
  Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__') ? Object.keys(type.getFields()) : [],
  ).length
