import { createSchema } from '@penstock/graphql'
import { MAX_ANSWER_BYTES } from '@penstock/json'
import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longestText, longTexts } from '../core/long-texts.ts'
import { operationsWorld } from './operations-world.ts'
import { ServedWorld } from './served-world.ts'

const COPIES = 4

type Field = GraphQLField<unknown, unknown>

/** A way from the query to an object, as selections around the next one. */
type Path = readonly string[]

const schema = createSchema({ serviceName: 'svc', externalUrl: 'https://svc.example.test' })
const root = () => schema.getType('Query') as GraphQLObjectType

/** The arguments of fields that need some. */
const neededArguments: Record<string, string> = {
  'Query.project': 'fullPath: "plant/loom"',
  'Query.group': 'fullPath: "plant"',
  'Query.issues': 'state: opened',
  'Query.user': 'username: "mira"',
  'Query.namespace': 'fullPath: "plant"',
  // Groups have no hooks.
  'Group.webhook': 'id: "gid://svc/GroupHook/1"',
  'Repository.commits': 'ref: "main"',
  'Repository.blobs': 'paths: ["README.md"]',
}

let served: ServedWorld
let administrator: Awaited<ReturnType<ServedWorld['world']['user']>>

beforeAll(async () => {
  served = await ServedWorld.start()
  const { callers } = await operationsWorld(served)
  administrator = callers.root!
  const hook = { url: 'https://hooks.example.com' }
  const { id } = await served.must('POST', '/projects/plant%2Floom/hooks', administrator, hook)
  neededArguments['Project.webhook'] = `id: "gid://svc/ProjectHook/${id}"`
  await served.world.core.db.write(async (db) => {
    for (const [table, column, characters] of longTexts) {
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${longestText(characters)}`.execute(db)
    }
  })
}, 240_000)

afterAll(() => served?.close())

const isRequired = ({ type, defaultValue }: Field['args'][number]): boolean =>
  isNonNullType(type) && defaultValue === undefined

/** Returns the fields of an object that can be asked for, with their arguments. */
function askedFields(
  type: GraphQLObjectType,
): { readonly field: Field; readonly call: string; readonly key: string }[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const key = `${type.name}.${field.name}`
    const needed = neededArguments[key]
    if (needed === undefined && field.args.some(isRequired)) return []
    const paged = field.args.some(({ name }) => name === 'first') ? `first: ${COPIES}` : ''
    const inside = [needed, paged].filter(Boolean).join(', ')
    return [{ field, call: inside === '' ? field.name : `${field.name}(${inside})`, key }]
  })
}

const nodesOf = (type: GraphQLObjectType): GraphQLObjectType | undefined => {
  const nodes = type.getFields().nodes
  const named = nodes && getNamedType(nodes.type)
  return isObjectType(named) ? named : undefined
}

/** Returns the connections of all objects, with the shortest way to each. */
function connections(): ReadonlyMap<string, { readonly path: Path; readonly node: GraphQLObjectType }> {
  const found = new Map<string, { path: Path; node: GraphQLObjectType }>()
  const known = new Set<string>(['Query'])
  const waiting: { type: GraphQLObjectType; path: Path }[] = [{ type: root(), path: [] }]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const { field, call, key } of askedFields(next.type)) {
      const type = getNamedType(field.type)
      if (!isObjectType(type)) continue
      const node = nodesOf(type)
      const path = [...next.path, call, ...(node === undefined ? [] : ['nodes'])]
      if (node !== undefined) found.set(key, { path, node })
      const reached = node ?? type
      if (known.has(reached.name)) continue
      known.add(reached.name)
      waiting.push({ type: reached, path })
    }
  }
  return found
}

const allConnections = (): string[] =>
  Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap((field) => {
          const named = getNamedType(field.type)
          return isObjectType(named) && nodesOf(named) !== undefined ? [`${type.name}.${field.name}`] : []
        })
      : [],
  )

const leaves = (type: GraphQLObjectType): string[] =>
  askedFields(type).flatMap(({ field, call }) => (isLeafType(getNamedType(field.type)) ? [call] : []))

async function ask(document: string) {
  const response = await fetch(`${served.url}/api/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await served.tokenOf(administrator)}` },
    body: JSON.stringify({ query: document }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, bytes: bytes.length, text: bytes.toString() }
}

interface Asked {
  readonly outcomes: Set<string>
  /** The selections that are too complex alone. */
  readonly tooComplex: string[]
}

/** Asks for fields of the objects of a connection, in several queries if they are too complex together. */
async function askFor(path: Path, fields: readonly string[], asked: Asked): Promise<void> {
  const document = `{ ${path.reduceRight((inner, part) => `${part} { ${inner} }`, fields.join(' '))} }`
  const { status, bytes, text } = await ask(document)
  if (/complexity/i.test(text.slice(0, 300))) {
    if (fields.length === 1) asked.tooComplex.push(document)
    const middle = fields.length >> 1
    if (fields.length > 1)
      for (const part of [fields.slice(0, middle), fields.slice(middle)]) await askFor(path, part, asked)
    return
  }
  if (bytes > MAX_ANSWER_BYTES) return void asked.outcomes.add(`${bytes} bytes`)
  if (status !== 200) return void asked.outcomes.add(`status ${status}: ${text.slice(0, 200)}`)
  const { errors = [] } = JSON.parse(text) as { errors?: { message: string }[] }
  asked.outcomes.add(errors.length === 0 ? 'answered' : (errors[0]?.message ?? 'no message'))
}

/** The errors for an answer that would be too large, and for too many texts. */
const refused =
  /^(?:answered$|The response would be larger than 8 MB|The descriptions and commit messages of one request)/

test('every connection answers with at most 8 MiB, or with the error for an answer that is too large', async () => {
  const found = connections()
  expect(allConnections().filter((key) => !found.has(key))).toEqual([])
  const wrong: unknown[] = []
  const refusals = new Set<string>()
  for (const [key, { path, node }] of found) {
    const asked: Asked = { outcomes: new Set(), tooComplex: [] }
    await askFor(path, leaves(node), asked)
    if (asked.tooComplex.length > 0) wrong.push([key, 'too complex', asked.tooComplex])
    for (const outcome of asked.outcomes) {
      if (!refused.test(outcome)) wrong.push([key, outcome])
      if (outcome !== 'answered') refusals.add(key)
    }
  }
  expect(wrong).toEqual([])
  expect([...refusals]).toEqual(expect.arrayContaining(['Query.issues', 'Project.issues']))
})
