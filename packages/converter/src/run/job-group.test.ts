import { expect, test } from 'vitest'
import { jobGroup } from './job-group.ts'

test.each<[string, string | undefined, number | undefined]>([
  ['rspec 1/3', 'rspec', 1],
  ['rspec 10/12 ', 'rspec', 10],
  ['rspec 1:3', 'rspec', undefined],
  ['rspec 1 3', 'rspec', undefined],
  ['rspec: 2/3', 'rspec', 2],
  ['rspec 4/3', 'rspec', undefined],
  ['rspec 0/3', 'rspec', undefined],
  ['deploy: [aws, monitoring]', 'deploy', undefined],
  ['deploy: [a] b: [c]', 'deploy', undefined],
  ['deploy: [aws] 2/3', 'deploy', 2],
  ['a 1 2 3 4', 'a', undefined],
  ['a 1 2 3', 'a 1', undefined],
  ['build:amd64', undefined, undefined],
  ['build 3', undefined, undefined],
  ['lint', undefined, undefined],
  ['list[1]', undefined, undefined],
  ['1/3', undefined, undefined],
  [' 1/3', undefined, undefined],
  [`${'x'.repeat(1_100)} 1/3`, undefined, undefined],
])('the group of %j is %j', (name, group, index) => {
  expect(jobGroup(name)).toEqual(group === undefined ? undefined : { name: group, index })
})
