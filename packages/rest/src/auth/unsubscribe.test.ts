import { accessLevels, createIssue, issueTracking, unsubscribeUrl } from '@penstock/core'
import { expect, test } from 'vitest'
import { HOME, mira, newBrowser, withPages, world } from './pages.harness.ts'

const PAGE = '/-/notifications/unsubscribe'

withPages()

async function newLink() {
  const project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, accessLevels.developer)
  const { id, iid } = await world.perform(mira, createIssue, { project: project.id, title: 'Leak' })
  const url = new URL(unsubscribeUrl(world.core, { kind: 'issue', itemId: id, userId: mira.id }))
  const subscribed = async () => {
    const answer = await world.perform(mira, issueTracking.subscribe, { project: project.id, issueIid: iid })
    return answer.isUnchanged
  }
  return { path: url.pathname + url.search, fields: Object.fromEntries(url.searchParams), subscribed }
}

test('the link of a mail ends a subscription without a sign-in', async () => {
  const { path, fields, subscribed } = await newLink()
  const visitor = newBrowser()
  const page = await visitor.get(path)
  expect([page.status, page.text.includes(`action="${HOME}${PAGE}"`)]).toEqual([200, true])
  expect(await subscribed()).toBe(true)
  const answer = await visitor.submit(page, PAGE, fields)
  expect([answer.status, answer.text.includes('You have unsubscribed.')]).toEqual([200, true])
  expect(await subscribed()).toBe(false)
})

test('mail programs send the form themselves', async () => {
  const { path, subscribed } = await newLink()
  const visitor = newBrowser()
  const page = await visitor.get(path)
  const answer = await visitor.submit(page, path, { 'List-Unsubscribe': 'One-Click' })
  expect(answer.status).toBe(200)
  expect(await subscribed()).toBe(false)
})

test.each([{ user: '1' }, { item: '99' }, { kind: 'merge_request' }, { kind: 'x' }, { signature: 'x' }])(
  'a link with %j does nothing',
  async (change) => {
    const { path, fields, subscribed } = await newLink()
    const visitor = newBrowser()
    const answer = await visitor.submit(await visitor.get(path), PAGE, { ...fields, ...(change as typeof fields) })
    expect([answer.status, answer.text.includes('The link is invalid.')]).toEqual([422, true])
    expect(await subscribed()).toBe(true)
  },
)
