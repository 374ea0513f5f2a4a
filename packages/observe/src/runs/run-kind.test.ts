import { expect, test } from 'vitest'
import { AttributeMap } from './pipeline-attributes.ts'
import { toRefKind } from './run-kind.ts'

const attribute = (key: string, value: string | boolean) => ({
  key,
  value: typeof value === 'boolean' ? { boolValue: value } : { stringValue: value },
})

test.each([
  [{}, null],
  [{ 'vcs.ref.head.name': 'main' }, 'default_branch'],
  [{ 'pipeline.ref': 'master' }, 'default_branch'],
  [{ 'vcs.ref.head.name': 'main-2' }, 'other_branch'],
  [{ 'vcs.ref.head.name': 'main', 'pipeline.tag': true }, 'tag'],
  [{ 'vcs.ref.head.name': 'main', 'pipeline.tag': false }, 'default_branch'],
  [{ 'vcs.ref.head.name': 'v1', 'vcs.ref.head.type': 'tag' }, 'tag'],
  [{ 'vcs.ref.head.name': 'fix', 'pipeline.merge_request.iid': '7' }, 'merge_request'],
  [{ 'vcs.ref.head.name': 'main', 'acme.cicd.pipeline.trigger.type': 'merge_request_event' }, 'merge_request'],
  [{ 'vcs.ref.head.name': 'refs/merge-requests/7/merge' }, 'merge_request'],
])('the kind of the ref of %j is %s', (attributes, kind) => {
  const list = Object.entries(attributes).map(([key, value]) => attribute(key, value))
  expect(toRefKind(new AttributeMap(list))).toBe(kind)
})
