import { expect, test } from 'vitest'
import { renderTemplate, TemplateError } from './template.ts'

test('members of the payload are inserted', () => {
  const payload = { user: { name: 'a "b"' }, count: 1, list: [1] }
  const template = '{"text": "by {{user.name}}", "user": {{user}}, "count": {{count}}, "none": {{nothing}}}'
  expect(JSON.parse(renderTemplate(template, payload))).toEqual({
    text: 'by a "b"',
    user: { name: 'a "b"' },
    count: 1,
    none: null,
  })
  expect(() => renderTemplate('{{list.0}}', payload)).toThrow(TemplateError)
})

test('a template that repeats a long member is refused before its result is built', () => {
  const template = `"${'{{note}}'.repeat(500)}"`
  expect(() => renderTemplate(template, { note: '\u0001'.repeat(1_000_000) })).toThrow(
    new TemplateError('The result is too large'),
  )
})
