import { addOwnEmail, confirmationUrl, findEmail, listOwnEmails } from '@penstock/core'
import { expect, test } from 'vitest'
import { HOME, mira, newBrowser, withPages, world } from './pages.harness.ts'

const PAGE = '/-/emails/confirm'

withPages()

async function newLink(): Promise<{ readonly path: string; readonly fields: Record<string, string> }> {
  const { id } = await world.perform(mira, addOwnEmail, { email: 'mira@home.test' })
  const email = (await findEmail({ db: world.core.db.read, nowMs: 0 }, id))!
  const url = new URL(confirmationUrl(world.core, HOME, email))
  return { path: url.pathname + url.search, fields: Object.fromEntries(url.searchParams) }
}
const confirmed = async () =>
  (await world.perform(mira, listOwnEmails, {})).filter(({ confirmedAtMs }) => confirmedAtMs !== undefined).length

test('the link of a mail shows a button, which confirms the address without a sign-in', async () => {
  const { path, fields } = await newLink()
  const visitor = newBrowser()
  const page = await visitor.get(path)
  expect(page.status).toBe(200)
  expect(page.text).toContain(`<form method="post" action="${HOME}${PAGE}">`)
  expect(page.text).not.toContain('<script')
  expect(await confirmed()).toBe(1)
  const answer = await visitor.submit(page, PAGE, fields)
  expect([answer.status, answer.text.includes('The address mira@home.test is confirmed.')]).toEqual([200, true])
  expect(await confirmed()).toBe(2)
})

test.each([{ id: '0', signature: 'x' }, { id: '1e3', signature: 'x'.repeat(1_000) }, { signature: '"><script>' }, {}])(
  'other links confirm nothing: %j',
  async (changes) => {
    const { fields } = await newLink()
    const visitor = newBrowser()
    const query = new URLSearchParams(changes as Record<string, string>)
    const page = await visitor.get(`${PAGE}?${query}`)
    expect(page.text).not.toContain('<script')
    const answer = await visitor.submit(page, PAGE, { ...changes, ...('id' in changes ? {} : { id: fields.id! }) })
    expect([answer.status, answer.text.includes('The link is invalid or has expired.')]).toEqual([422, true])
    expect(await confirmed()).toBe(1)
  },
)
