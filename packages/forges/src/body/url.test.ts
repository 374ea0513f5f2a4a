import { expect, test } from 'vitest'
import { repositoryPath, repositoryUrl } from './url.ts'

test.each([
  ['git@github.com:team/app.git', 'https://github.com/team/app'],
  ['ssh://git@git.example.com:7999/team/app.git', 'https://git.example.com/team/app'],
  ['git://git.example.com/team/app', 'https://git.example.com/team/app'],
  ['https://ci:canary@git.example.com/team/app.git', 'https://git.example.com/team/app'],
  ['http://git.example.com:3000/team/app/', 'http://git.example.com:3000/team/app'],
  ['/srv/git/app.git', undefined],
  ['file:///srv/git/app.git', undefined],
  [undefined, undefined],
])('the repository that is cloned from %s', (given, expected) => expect(repositoryUrl(given)).toBe(expected))

test.each([
  ['https://github.com/team/app', 'team/app'],
  ['https://git.example.com/group/team/app', 'group/team/app'],
  ['https://git.example.com/app', undefined],
  ['no URL', undefined],
])('the path of %s', (given, expected) => expect(repositoryPath(given)).toBe(expected))
