import type { GraphQLFormattedError } from 'graphql'
import { parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'
import { createSchema } from '../schema.ts'
import { validateDocument } from './validate-document.ts'
import { ValidationTime } from './validation-time.ts'

let server: GraphqlServer

beforeAll(async () => {
  server = await GraphqlServer.start()
  const root = await server.world.user('root', { isAdministrator: true })
  await server.world.project('app', root, 'public')
})
afterAll(() => server.close())

const answerTo = async (query: string, variables?: object) => {
  const { status, body } = await server.ask(query, variables && { variables })
  return { status, ...body }
}
/** Returns the response with a single error. */
const only = (message: string, line: number, column: number, rest: object = {}) => ({
  status: 200,
  errors: [{ message, locations: [{ line, column }], ...rest }],
})

describe('errors in documents', () => {
  test('reports an empty document', async () => {
    for (const query of ['', ' \n']) {
      expect(await answerTo(query)).toEqual({
        status: 200,
        errors: [{ message: 'Unexpected end of document', locations: [] }],
      })
    }
  })

  test('reports syntax errors', async () => {
    expect(await answerTo('{ project }}')).toEqual(only('Syntax Error: Unexpected "}".', 1, 12))
    expect(await answerTo('# only this')).toEqual(only('Syntax Error: Unexpected <EOF>.', 1, 12))
  })

  test('reports an unknown field, with similar names', async () => {
    const place = { path: ['query', 'project', 'nam'] }
    const extensions = { code: 'undefinedField', typeName: 'Project', fieldName: 'nam' }
    const { errors } = await answerTo('{\n  project(fullPath: "a") { nam }\n}')
    expect(errors).toEqual([
      {
        message: expect.stringMatching(/^Field 'nam' doesn't exist on type 'Project' \(Did you mean .*`name`.*\?\)$/),
        locations: [{ line: 2, column: 28 }],
        ...place,
        extensions,
      },
    ])
    expect(await answerTo('query Q { zzzzzzzzzzz }')).toEqual(
      only("Field 'zzzzzzzzzzz' doesn't exist on type 'Query'", 1, 11, {
        path: ['query Q', 'zzzzzzzzzzz'],
        extensions: { code: 'undefinedField', typeName: 'Query', fieldName: 'zzzzzzzzzzz' },
      }),
    )
    expect(await answerTo('{ ehco(text: "a") }')).toMatchObject({
      errors: [{ message: "Field 'ehco' doesn't exist on type 'Query' (Did you mean `echo`?)" }],
    })
  })

  test('starts the path with the operation or fragment', async () => {
    const pathOf = async (query: string) => (await answerTo(query)).errors[0].path
    expect(await pathOf('mutation { nope }')).toEqual(['mutation', 'nope'])
    expect(await pathOf('mutation M { echoCreate(input: {}) { nope } }')).toEqual(['mutation M', 'echoCreate', 'nope'])
    expect(await pathOf('{ ...F } fragment F on Query { a: project(fullPath: "a") { nope } }')).toEqual([
      'fragment F',
      'project',
      'nope',
    ])
  })

  test('reports an unknown argument', async () => {
    expect(await answerTo('{ project(fullPath: "a", path: "b") { id } }')).toEqual(
      only("Field 'project' doesn't accept argument 'path'", 1, 26, {
        path: ['query', 'project'],
        extensions: { code: 'argumentNotAccepted', name: 'project', typeName: 'Field', argumentName: 'path' },
      }),
    )
  })

  test('reports a missing argument', async () => {
    expect(await answerTo('{ project { id } }')).toEqual(
      only("Field 'project' is missing required arguments: fullPath", 1, 3, {
        path: ['query', 'project'],
        extensions: { code: 'missingRequiredArguments', className: 'Field', name: 'project', arguments: 'fullPath' },
      }),
    )
  })

  test('reports a literal of the wrong type', async () => {
    expect(await answerTo('{ project(fullPath: "a") { labels(first: "x") { count } } }')).toEqual(
      only(`Argument 'first' on Field 'labels' has an invalid value ("x"). Expected type 'Int'.`, 1, 42, {
        path: ['query', 'project', 'labels'],
        extensions: { code: 'argumentLiteralsIncompatible', typeName: 'Field', argumentName: 'first' },
      }),
    )
    expect((await answerTo('{ echo(text: NAME) }')).errors[0].extensions.code).toBe('argumentLiteralsIncompatible')
    const scalarErrors = await answerTo(
      '{ issue(id: 3) { id } projects { nodes { pipelines(updatedAfter: "never") { count } } } }',
    )
    expect(
      scalarErrors.errors.map(({ extensions, locations }: GraphQLFormattedError) => [
        extensions?.code,
        locations?.length,
      ]),
    ).toEqual([
      ['argumentLiteralsIncompatible', 1],
      ['argumentLiteralsIncompatible', 1],
    ])
  })

  test.each([
    [
      '{ title: 5, projectPath: "root/app" }',
      `Argument 'title' on InputObject 'CreateIssueInput' has an invalid value (5). Expected type 'String!'.`,
      { code: 'argumentLiteralsIncompatible', typeName: 'InputObject', argumentName: 'title' },
    ],
    [
      '{ title: "a", projectPath: "root/app", dueDate: "soon" }',
      `Argument 'dueDate' on InputObject 'CreateIssueInput' has an invalid value ("soon"). Expected type 'ISO8601Date'. "soon" is not a valid date or time.`,
      { code: 'argumentLiteralsIncompatible', typeName: 'InputObject', argumentName: 'dueDate' },
    ],
    [
      '{ title: "a", projectPath: "root/app", labels: ["a", {}] }',
      `Argument 'labels' on InputObject 'CreateIssueInput' has an invalid value ({}). Expected type 'String!'.`,
      { code: 'argumentLiteralsIncompatible', typeName: 'InputObject', argumentName: 'labels' },
    ],
    [
      '{ title: "a", projectPath: "root/app", nope: 1 }',
      `InputObject 'CreateIssueInput' doesn't accept argument 'nope'`,
      { code: 'argumentNotAccepted', name: 'CreateIssueInput', typeName: 'InputObject', argumentName: 'nope' },
    ],
    [
      '{ projectPath: "root/app" }',
      `Argument 'title' on InputObject 'CreateIssueInput' is required. Expected type String!`,
      {
        code: 'missingRequiredInputObjectAttribute',
        argumentName: 'title',
        argumentType: 'String!',
        inputObjectType: 'CreateIssueInput',
      },
    ],
  ])('names the faulty member of the input %s', async (input, message, extensions) => {
    const { errors } = await answerTo(`mutation { createIssue(input: ${input}) { errors } }`)
    expect(errors).toEqual([
      { message, path: ['mutation', 'createIssue'], locations: [{ line: 1, column: expect.any(Number) }], extensions },
    ])
  })

  test('reports an object without selections, and a scalar with selections', async () => {
    expect(await answerTo('{ project(fullPath: "a") }')).toEqual(
      only(
        "Field must have selections (field 'project' returns Project but has no selections. Did you mean 'project { ... }'?)",
        1,
        3,
        {
          path: ['query', 'project'],
          extensions: { code: 'selectionMismatch', nodeName: "field 'project'", typeName: 'Project' },
        },
      ),
    )
    const { errors } = await answerTo('{ echo(text: "a") { id } }')
    expect(errors[0]).toMatchObject({
      path: ['query', 'echo'],
      extensions: { code: 'selectionMismatch', typeName: 'String' },
    })
  })

  test('reports errors of directives, fragments and variables with the standard messages', async () => {
    for (const query of [
      '{ __typename @nope }',
      '{ ...F }',
      'query($a: Nope) { echo(text: "a") }',
      '{ echo(text: $a) }',
    ]) {
      const { status, errors, data } = await answerTo(query)
      expect([status, data, errors.length > 0]).toEqual([200, undefined, true])
      expect(Object.keys(errors[0]).sort()).toEqual(['locations', 'message', 'path'])
    }
    expect((await answerTo('{ __typename @skip(nope: true) }')).errors[0]).toMatchObject({
      message: "Directive 'skip' doesn't accept argument 'nope'",
      extensions: { code: 'argumentNotAccepted', name: 'skip', typeName: 'Directive', argumentName: 'nope' },
    })
  })

  test('reports the first five errors', async () => {
    const { errors } = await answerTo(`{ ${'abcdefgh'.replaceAll(/./g, 'zz$&zzzzzz ')} }`)
    expect(errors.map(({ extensions }: { extensions: { fieldName: string } }) => extensions.fieldName)).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((letter) => `zz${letter}zzzzzz`),
    )
  })

  test('does not measure the complexity and depth of an invalid document', async () => {
    const { errors } = await answerTo(
      `{ nope ${Array.from({ length: 300 }, (_, index) => `a${index}:__typename`).join(' ')} }`,
    )
    expect(errors).toHaveLength(1)
  })

  test('rejects text that cannot be stored', async () => {
    expect(await answerTo('{ echo(text: "a\\u0000") }')).toEqual(only('Text that cannot be stored', 1, 14))
    expect(await answerTo('query($t: String!) { echo(text: $t) }', { t: 'a\0' })).toMatchObject({
      errors: [{ extensions: { problems: [{ path: [], explanation: 'Text that cannot be stored' }] } }],
    })
  })

  test('stops validation after 200 ms of CPU time, and after one second for all documents of a request', () => {
    const schema = createSchema(server.world.core.settings)
    const document = parse(`{ ${Array.from({ length: 50 }, (_, index) => `a${index}: __typename`).join(' ')} }`)
    let nowMs = 0
    const validateAt = (msPerCheck: number) => validateDocument(schema, document, () => (nowMs += msPerCheck))
    expect(validateAt(1)).toEqual([])
    const time = new ValidationTime()
    time.spend(1_000)
    expect(validateDocument(schema, document, () => 0, time).map(({ message }) => message)).toEqual([
      'Timeout on validation of query',
    ])
    expect(validateAt(201).map(({ message }) => message)).toEqual(['Timeout on validation of query'])
  })
})

describe('errors in variables', () => {
  const CREATE = 'mutation($in: EchoCreateInput!) { echoCreate(input: $in) { errors } }'

  test('reports a value of the wrong type', async () => {
    expect(
      await answerTo('query($n: Int) { project(fullPath: "a") { labels(first: $n) { count } } }', { n: 'x' }),
    ).toEqual(
      only('Variable $n of type Int was provided invalid value', 1, 7, {
        extensions: {
          value: 'x',
          problems: [{ path: [], explanation: 'Int cannot represent non-integer value: "x"' }],
        },
      }),
    )
  })

  test('reports missing and null values', async () => {
    const missing = only('Variable $t of type String! was provided invalid value', 1, 7, {
      extensions: { value: null, problems: [{ path: [], explanation: 'Expected value to not be null' }] },
    })
    expect(await answerTo('query($t: String!) { echo(text: $t) }')).toEqual(missing)
    expect(await answerTo('query($t: String!) { echo(text: $t) }', { t: null })).toEqual(missing)
  })

  test('reports the path of a value in an input object', async () => {
    const value = { messages: ['a', 7], nope: 1 }
    expect(await answerTo(CREATE, { in: value })).toEqual(
      only(
        'Variable $in of type EchoCreateInput! was provided invalid value for messages.1 (String cannot represent a non string value: 7), nope (Field is not defined)',
        1,
        10,
        {
          extensions: {
            value,
            problems: [
              { path: ['messages', 1], explanation: 'String cannot represent a non string value: 7' },
              { path: ['nope'], explanation: 'Field is not defined' },
            ],
          },
        },
      ),
    )
  })

  test('reports the first five problems of a list', async () => {
    const { errors } = await answerTo(CREATE, { in: { messages: Array(30_000).fill(7) } })
    expect(errors[0].extensions.problems).toHaveLength(5)
  })

  test('ignores undeclared variables, and uses default values', async () => {
    expect(await answerTo('query($t: String = "d") { echo(text: $t) }', { other: 1 })).toMatchObject({
      data: { echo: 'null says: d' },
    })
  })
})

describe('ID in place of String, and String in place of ID', () => {
  test.each([
    ['query($v: ID!) { echo(text: $v) }', 'a', 'null says: a'],
    ['query($v: ID!) { echo(text: $v) }', 7, 'null says: 7'],
    ['query($v: ID = "d") { echo(text: $v) }', undefined, 'null says: d'],
  ])('accepts %s', async (query, v, echo) => {
    expect(await answerTo(query, { v })).toEqual({ status: 200, data: { echo } })
  })

  test('accepts them in lists and input objects too', async () => {
    const project = 'query($p: String!) { project(fullPath: $p) { fullPath: __typename } }'
    expect(await answerTo(project, { p: 'root/app' })).toMatchObject({ data: { project: { fullPath: 'Project' } } })
    expect(
      await answerTo('mutation($m: [ID!]) { echoCreate(input: { messages: $m }) { echoes } }', { m: ['a'] }),
    ).toMatchObject({ data: { echoCreate: null } })
  })

  test('rejects other types, and nullable variables in non-null positions', async () => {
    for (const declared of ['Int!', 'String', 'ID', '[String!]!', 'UserID!']) {
      const { errors, data } = await answerTo(`query($v: ${declared}) { echo(text: $v) }`, { v: null })
      expect([data, errors[0].message]).toEqual([undefined, expect.stringContaining('"$v"')])
    }
  })
})
