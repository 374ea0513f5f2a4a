import { expect, test } from 'vitest'
import { hookActions } from './hook-actions.ts'
import { HookedProject, type ReceivedCall, switches } from './hooked-project.ts'

/** Returns what a payload says about the change. */
function described({ switch: name, body }: ReceivedCall): string {
  const attributes = body.object_attributes ?? {}
  const said =
    body.object_kind === 'feature_flag'
      ? attributes.active
      : (body.action ?? attributes.action ?? attributes.status ?? body.build_status ?? body.status)
  const kind = body.object_kind ?? body.event_name
  const more = said ?? (body.event_name === kind ? undefined : body.event_name)
  return [name, kind, more].filter((part) => part !== undefined).join(' ')
}

test('each change calls the webhooks with its switch, and no others', async () => {
  const project = await HookedProject.start()
  const fired = new Set<string>()
  const outcomes: (readonly [what: string, calls: readonly string[]])[] = []
  for (const { what, act } of hookActions) {
    const error = await act(project).then(
      () => undefined,
      (reason: Error) => [reason.message.slice(0, 300)],
    )
    const calls = await project.calls()
    for (const call of calls) fired.add(call.switch)
    outcomes.push([what, error ?? calls.map(described).toSorted()])
  }
  expect(outcomes).toEqual(hookActions.map(({ what, calls }) => [what, calls]))
  expect([...fired].toSorted()).toEqual(switches.toSorted())
})
