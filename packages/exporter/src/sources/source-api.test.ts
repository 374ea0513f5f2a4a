import { forgeNames } from '@penstock/forges'
import { expect, test } from 'vitest'
import { readSources, SourcesError } from './sources.ts'

const apiToken = 'canary-api-token-77'

function apiOf(change: object): string | readonly string[] | undefined {
  try {
    const source = { secretToken: 'user:password', signals: ['traces'], instanceId: 'x', project: 'x', ...change }
    return readSources({ a: source }).get('a')?.api?.url.href
  } catch (error) {
    if (error instanceof SourcesError) return error.problems
    throw error
  }
}

test.each([
  [{ forge: 'github' }, undefined],
  [{ forge: 'github', apiToken }, 'https://api.github.com/'],
  [{ forge: 'github', apiToken, apiUrl: 'https://ghe.example/' }, 'https://ghe.example/api/v3'],
  [{ forge: 'github', apiToken, apiUrl: 'https://ghe.example/api/v3' }, 'https://ghe.example/api/v3'],
  [{ forge: 'gitea', apiToken, apiUrl: 'http://10.0.0.7:3000/git' }, 'http://10.0.0.7:3000/git/api/v1'],
  [{ forge: 'bitbucket', apiToken }, 'https://api.bitbucket.org/2.0'],
  [{ forge: 'circleci', apiToken }, 'https://circleci.com/api/v2'],
  [{ forge: 'azure', apiToken, apiUrl: 'https://dev.azure.com/kiln' }, 'https://dev.azure.com/kiln'],
])('%j is asked at %s', (source, url) => {
  expect(apiOf(source)).toBe(url)
})

test.each([
  [{ forge: 'gitea', apiToken }, 'source a: needs the apiUrl of gitea, to which the apiToken is sent'],
  [{ forge: 'github', apiUrl: 'https://ghe.example' }, 'source a: apiUrl is used with an apiToken only'],
  [{ forge: 'gitlab', apiToken }, 'source a: no run of gitlab is read from its API; leave out apiToken'],
  [{ apiToken }, 'source a: no run of gitlab is read from its API; leave out apiToken'],
  [{ forge: 'cdevents', apiToken }, 'source a: no run of cdevents is read from its API; leave out apiToken'],
  [{ forge: 'github', apiToken: 'two words' }, 'source a: apiToken must be printable characters without blanks'],
  [
    { forge: 'github', apiToken, apiUrl: `https://user:${apiToken}@ghe.example` },
    'source a: apiUrl must be an http:// or https:// URL without user name, password, ? and #; the token is apiToken',
  ],
])('%j is refused', (source, problem) => {
  expect(apiOf(source)).toEqual([problem])
})

test('no forge is asked at an address that a hook names', () => {
  const withoutUrl = forgeNames.flatMap((forge) => {
    const url = apiOf({ forge, apiToken })
    return typeof url === 'string' ? [forge] : []
  })
  expect(withoutUrl.toSorted()).toEqual(['bitbucket', 'buildkite', 'circleci', 'github'])
})
