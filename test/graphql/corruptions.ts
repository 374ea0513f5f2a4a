import type { DocumentGenerator, FuzzRequest } from './document-generator.ts'
import type { Dice } from './random.ts'

type Corruption = (request: FuzzRequest, dice: Dice, generator: DocumentGenerator) => FuzzRequest

const splice = (text: string, at: number, removed: number, inserted: string): string =>
  text.slice(0, at) + inserted + text.slice(at + removed)

const strangeValues: readonly unknown[] = [
  null,
  [],
  {},
  'x',
  -1,
  1e308,
  9_007_199_254_740_992,
  true,
  [[1]],
  { a: { b: [1, null] } },
  '\u0000',
  '\ud800',
  '\u202e\u0301🏳️‍🌈',
  'x'.repeat(5_000),
  "'; drop table users; --",
  '%_\\',
]
const tokens = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '!',
  ':',
  '$',
  '@',
  '"',
  '"""',
  '|',
  '&',
  '=',
  '...',
  '#',
  '\u0000',
  '\ufeff',
  '🦀',
  '\\u12',
  '-',
  '0x1',
]

/** The ways in which a request can be corrupted. */
export const corruptions: Readonly<Record<string, Corruption>> = {
  'unknown field': (request, dice) => ({ ...request, query: insertAfter(request.query, '{', ' noSuchField ', dice) }),
  'unknown argument': (request, dice) => ({ ...request, query: insertAfter(request.query, '(', 'noSuch: 1, ', dice) }),
  'literal of a wrong type': (request, dice) => ({
    ...request,
    query: insertAfter(request.query, ': ', dice.pick(['{a: 1}', '[[1]]', '1e400', 'NO_SUCH', 'null', '"""']), dice),
  }),
  'extra token': (request, dice) => ({
    ...request,
    query: splice(request.query, dice.upTo(request.query.length), 0, dice.pick(tokens)),
  }),
  'missing characters': (request, dice) => ({
    ...request,
    query: splice(request.query, dice.upTo(request.query.length), 1 + dice.upTo(5), ''),
  }),
  truncated: (request, dice) => ({ ...request, query: request.query.slice(0, dice.upTo(request.query.length)) }),
  'two operations without a name': (request) => ({ ...request, query: `${request.query}\nquery Fuzz { __typename }` }),
  'unknown operation': (request) => ({ ...request, operationName: 'NoSuch' }),
  'unknown fragment': (request, dice) => ({ ...request, query: insertAfter(request.query, '{', ' ...NoSuch ', dice) }),
  'unknown variable': (request, dice) => ({
    ...request,
    query: insertAfter(request.query, '{', ' n: echo(text: $noSuch) ', dice),
  }),
  'recursive fragments': (request) => ({
    ...request,
    query: `${request.query} fragment A on Query { ...B } fragment B on Query { ...A __typename }`.replace(
      '{',
      '{ ...A ',
    ),
  }),
  'unknown directive': (request, dice) => ({
    ...request,
    query: insertAfter(
      request.query,
      '}',
      dice.pick([' @unknown', ' @include', ' @skip(if: 1)', ' @deprecated']),
      dice,
    ),
  }),
  'strange value of a variable': (request, dice) => {
    const names = Object.keys(request.variables as object)
    if (names.length === 0) return { ...request, variables: { unused: dice.pick(strangeValues) } }
    return {
      ...request,
      variables: { ...(request.variables as object), [dice.pick(names)]: dice.pick(strangeValues) },
    }
  },
  'no variables': (request) => ({ ...request, variables: undefined }),
  'strange variables': (request, dice) => ({ ...request, variables: dice.pick(strangeValues) }),
  'too deep': (_, dice, generator) => generator.deep(8 + dice.upTo(30)),
  'too complex': (_, dice, generator) => generator.wide(50 + dice.upTo(120)),
  'too long': (request) => ({ ...request, query: `${request.query}\n#${'x'.repeat(10_000)}` }),
  'deeply nested value': (request, dice) => {
    const levels = 10 ** (1 + dice.upTo(2)) * 4
    const [open, close] = dice.pick([
      ['[', ']'],
      ['{a:', '}'],
    ] as const)
    const value = open.repeat(levels) + (open === '[' ? '' : '1') + close.repeat(levels)
    return { ...request, query: `{ echo(text: ${value}) }`.slice(0, 9_900) }
  },
  'deeply nested selections': (request, dice) => ({
    ...request,
    query: '{a'.repeat(4 * 10 ** (1 + dice.upTo(2))) + (dice.is(0.5) ? '' : '}'),
  }),
  'fragments in fragments': (request) => {
    const doubled = Array.from(
      { length: 25 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    )
    return { ...request, query: `{ ...F0 } ${doubled.join(' ')} fragment F25 on Query { __typename }` }
  },
  'names of object properties': (request, dice) => {
    const name = dice.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    return { ...request, query: `query { ${name}: __typename ${name} { ${name} } }`, variables: { [name]: 1 } }
  },
  'no query': (request, dice) => ({
    ...request,
    query: dice.pick([
      '',
      ' ',
      '# nothing',
      ',,,',
      '\ufeff',
      'subscription { a }',
      'type A { b: C }',
      'fragment A on Query { __typename }',
    ]),
  }),
}

/** Inserts a text after a random occurrence of `mark`. */
function insertAfter(text: string, mark: string, inserted: string, dice: Dice): string {
  const places = [...text].flatMap((_, index) => (text.startsWith(mark, index) ? [index + mark.length] : []))
  return places.length === 0 ? text + inserted : splice(text, dice.pick(places), 0, inserted)
}
