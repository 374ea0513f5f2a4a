import { expect, test } from 'vitest'
import { z } from 'zod'
import type { DomainError } from './domain-error.ts'
import { iidList } from './parameter-schemas.ts'
import { acrossParameters, parseInput, problem } from './parse-input.ts'

const schema = z
  .object({
    title: z.string().min(1),
    files: z.array(z.string()).optional(),
    content: z.string().optional(),
    page: z.int().optional(),
  })
  .superRefine(({ files, content }, context) => {
    const names = ['files', 'content']
    if (files !== undefined && content !== undefined) context.addIssue(problem('mutually_exclusive', { names }))
    if (files === undefined && content === undefined) context.addIssue(problem('exactly_one', { names }))
  }, acrossParameters)

function problemsOf(input: unknown): unknown {
  try {
    return parseInput(schema, input)
  } catch (error) {
    const { failure } = error as DomainError
    if (failure.code !== 'parameters') return failure
    return failure.problems.map(({ path, names, problem }) => `${[...path, ...(names ?? [])].join()} ${problem}`)
  }
}

test.each([
  [
    { title: 'x', content: 'y' },
    { title: 'x', content: 'y' },
  ],
  [{}, ['title missing', 'files,content exactly_one']],
  [{ page: 'x', title: '' }, ['title empty', 'page invalid', 'files,content exactly_one']],
  [{ page: 'x', title: 'x', content: 'y' }, ['page invalid']],
  [{ title: 'x', files: 7, content: 'y' }, ['files invalid', 'files,content mutually_exclusive']],
  [{ title: 'x' }, ['files,content exactly_one']],
  [undefined, [' missing']],
])('parses %j, or reports its problems: %j', (input, problems) => {
  expect(problemsOf(input)).toEqual(problems)
})

test('a list of iids has at most a thousand entries', () => {
  expect(iidList.safeParse(Array(1_000).fill(7)).success).toBe(true)
  expect(iidList.safeParse(Array(1_001).fill(7)).success).toBe(false)
})

test.each([
  ['a\r\nb', 'a b'],
  ['\na\n\n\rb\r\n', 'a b'],
  ['a  b', 'a  b'],
])('line breaks in titles and names become spaces: %j', (sent, stored) => {
  const named = z.object({ title: z.string(), name: z.string(), description: z.string() })
  const input = { title: sent, name: sent, description: sent }
  expect(parseInput(named, input)).toEqual({ title: stored, name: stored, description: sent })
  expect(input.title).toBe(sent)
})

test('a title of line breaks alone is empty', () => {
  expect(problemsOf({ title: '\r\n', content: 'x' })).toEqual(['title empty'])
})

test('line breaks in a text beyond every limit are not looked at', () => {
  const sent = '\n'.repeat(65_537)
  expect(parseInput(z.object({ title: z.string() }), { title: sent })).toEqual({ title: sent })
})
