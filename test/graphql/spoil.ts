import type { DocumentGenerator, Question } from './documents.ts'
import type { Dice } from './random.ts'

type Spoiling = (question: Question, dice: Dice, generator: DocumentGenerator) => Question

const splice = (text: string, at: number, removed: number, put: string): string =>
  text.slice(0, at) + put + text.slice(at + removed)

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
const marks = [
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

/** Ways in which what a client sends may be wrong. */
export const spoilings: Readonly<Record<string, Spoiling>> = {
  'unknown field': (question, dice) => ({ ...question, query: afterSome(question.query, '{', ' noSuchField ', dice) }),
  'unknown argument': (question, dice) => ({ ...question, query: afterSome(question.query, '(', 'noSuch: 1, ', dice) }),
  'a literal of a wrong type': (question, dice) => ({
    ...question,
    query: afterSome(question.query, ': ', dice.pick(['{a: 1}', '[[1]]', '1e400', 'NO_SUCH', 'null', '"""']), dice),
  }),
  'a mark more': (question, dice) => ({
    ...question,
    query: splice(question.query, dice.upTo(question.query.length), 0, dice.pick(marks)),
  }),
  'a piece less': (question, dice) => ({
    ...question,
    query: splice(question.query, dice.upTo(question.query.length), 1 + dice.upTo(5), ''),
  }),
  'cut off': (question, dice) => ({ ...question, query: question.query.slice(0, dice.upTo(question.query.length)) }),
  'two without names': (question) => ({ ...question, query: `${question.query}\nquery Fuzz { __typename }` }),
  'no such operation': (question) => ({ ...question, operationName: 'NoSuch' }),
  'no such fragment': (question, dice) => ({ ...question, query: afterSome(question.query, '{', ' ...NoSuch ', dice) }),
  'no such variable': (question, dice) => ({
    ...question,
    query: afterSome(question.query, '{', ' n: echo(text: $noSuch) ', dice),
  }),
  'a fragment of itself': (question) => ({
    ...question,
    query: `${question.query} fragment A on Query { ...B } fragment B on Query { ...A __typename }`.replace(
      '{',
      '{ ...A ',
    ),
  }),
  'a directive nobody knows': (question, dice) => ({
    ...question,
    query: afterSome(question.query, '}', dice.pick([' @nobody', ' @include', ' @skip(if: 1)', ' @deprecated']), dice),
  }),
  'a strange variable': (question, dice) => {
    const names = Object.keys(question.variables as object)
    if (names.length === 0) return { ...question, variables: { unused: dice.pick(strangeValues) } }
    return {
      ...question,
      variables: { ...(question.variables as object), [dice.pick(names)]: dice.pick(strangeValues) },
    }
  },
  'no variables': (question) => ({ ...question, variables: undefined }),
  'strange variables': (question, dice) => ({ ...question, variables: dice.pick(strangeValues) }),
  'too deep': (_, dice, generator) => generator.deep(8 + dice.upTo(30)),
  'too much': (_, dice, generator) => generator.wide(50 + dice.upTo(120)),
  'too long': (question) => ({ ...question, query: `${question.query}\n#${'x'.repeat(10_000)}` }),
  'nested without end': (question, dice) => {
    const levels = 10 ** (1 + dice.upTo(2)) * 4
    const [open, close] = dice.pick([
      ['[', ']'],
      ['{a:', '}'],
    ] as const)
    const value = open.repeat(levels) + (open === '[' ? '' : '1') + close.repeat(levels)
    return { ...question, query: `{ echo(text: ${value}) }`.slice(0, 9_900) }
  },
  'braces without end': (question, dice) => ({
    ...question,
    query: '{a'.repeat(4 * 10 ** (1 + dice.upTo(2))) + (dice.is(0.5) ? '' : '}'),
  }),
  'fragments in fragments': (question) => {
    const doubled = Array.from(
      { length: 25 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    )
    return { ...question, query: `{ ...F0 } ${doubled.join(' ')} fragment F25 on Query { __typename }` }
  },
  'names of objects': (question, dice) => {
    const name = dice.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    return { ...question, query: `query { ${name}: __typename ${name} { ${name} } }`, variables: { [name]: 1 } }
  },
  'no query': (question, dice) => ({
    ...question,
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

/** Of the places where `mark` stands, one. */
function afterSome(text: string, mark: string, put: string, dice: Dice): string {
  const places = [...text].flatMap((_, index) => (text.startsWith(mark, index) ? [index + mark.length] : []))
  return places.length === 0 ? text + put : splice(text, dice.pick(places), 0, put)
}
