import { describe, expect, test } from 'vitest'
import { bodyFields } from '../body/fields.ts'
import { projectUrl, url } from '../body/url.ts'
import { newWarnings } from '../record/warnings.ts'
import { jobUrl, pipelineUrl, projectUrlIn } from './web-url.ts'

test.each([
  ['https://ci.example.com/gitlab/g/p', 'https://ci.example.com/gitlab/g/p'],
  ['https://ci.example.com/g/p/', 'https://ci.example.com/g/p'],
  ['https://ci.example.com/g/p///', 'https://ci.example.com/g/p'],
  ['https://ci.example.com/g/p.git', 'https://ci.example.com/g/p'],
  ['https://ci.example.com/g/p.git/', 'https://ci.example.com/g/p'],
  ['https://ci.example.com/g/p/.git', 'https://ci.example.com/g/p'],
  ['/', undefined],
  [undefined, undefined],
])('edge 51: %s', (given, expected) => expect(projectUrl(given)).toBe(expected))

test.each([
  [' https://ci.example.com/g/p\n', 'https://ci.example.com/g/p'],
  ['https://ci:canary@ci.example.com/g/p', 'https://ci.example.com/g/p'],
  ['https://canary@ci.example.com:8443/g/p', 'https://ci.example.com:8443/g/p'],
  ['https://ci.example.com/@group/p', 'https://ci.example.com/@group/p'],
  ['  ', undefined],
])('edge 58: %s without blanks and credentials', (given, expected) => {
  expect(url(bodyFields({ web_url: given }, newWarnings()), 'web_url')).toBe(expected)
})

describe('derived URLs', () => {
  test('edge 51: keep the prefix of a relative-root install', () => {
    expect(pipelineUrl('https://ci.example.com/gitlab/g/p', 31n)).toBe(
      'https://ci.example.com/gitlab/g/p/-/pipelines/31',
    )
    expect(jobUrl('https://ci.example.com/gitlab/g/p', 380n)).toBe('https://ci.example.com/gitlab/g/p/-/jobs/380')
  })
  test('are absent without a project URL', () => {
    expect(pipelineUrl(undefined, 31n)).toBeUndefined()
    expect(jobUrl(undefined, 380n)).toBeUndefined()
  })
  test('the URL of the project is derived from the URL of a pipeline', () => {
    expect(projectUrlIn('https://ci.example.com/gitlab/g/p/-/pipelines/31')).toBe('https://ci.example.com/gitlab/g/p')
    expect(projectUrlIn('https://ci.example.com/g/p/pipelines/31')).toBe('https://ci.example.com/g/p')
    expect(projectUrlIn('https://ci.example.com/31')).toBeUndefined()
    expect(projectUrlIn('/-/pipelines/31')).toBeUndefined()
    expect(projectUrlIn(undefined)).toBeUndefined()
  })
})
