import { createBroadcastMessage, updateBroadcastMessage } from '@penstock/core'
import { describe, expect, test } from 'vitest'
import type { Shown } from './browser.harness.ts'
import { browser, HOME, newBrowser, root, withPages, world } from './pages.harness.ts'

const SIGN_IN = '/users/sign_in'
const DISMISS = '/-/broadcast_messages/dismiss'
const HOUR_MS = 3_600_000

withPages()

const announce = (input: object) => world.perform(root, createBroadcastMessage, { message: 'Maintenance', ...input })
const messagesOf = ({ text }: Shown) =>
  [...text.matchAll(/<div class="message message-\d+">\n<p>([^<]*)<\/p>/g)].map(([, each]) => each)
const ruleOf = ({ text }: Shown, id: number) => new RegExp(`\\.message-${id} \\{ (.*) \\}`).exec(text)?.[1]

test('every page shows the messages for everyone, and those for its path', async () => {
  await announce({ message: 'everywhere' })
  await announce({ message: 'sign-in', targetPath: '/users/*' })
  await announce({ message: 'developers', targetAccessLevels: [30] })
  expect(messagesOf(await browser.get(SIGN_IN))).toEqual(['everywhere', 'sign-in'])
  expect(messagesOf(await browser.signIn({ password: 'wrong' }))).toEqual(['everywhere', 'sign-in'])
  await browser.signIn()
  for (const path of ['/', '/oauth/device', '/oauth/authorize', '/oauth/authorized_applications'])
    expect(messagesOf(await browser.get(path)), path).toEqual(['everywhere'])
  await world.clock.advance(HOUR_MS + 1)
  expect((await browser.get('/')).text).not.toMatch(/class="message|\.message/)
})

test('the text is escaped, and the style sheet is the only one that the policy allows', async () => {
  await announce({ message: '</style><script>alert(1)</script>\n"two" & lines', theme: 'light-red' })
  const page = await browser.get(SIGN_IN)
  expect(page.text).toContain('&#60;/style&#62;&#60;script&#62;alert(1)&#60;/script&#62;\n&#34;two&#34; &#38; lines')
  expect(page.text).not.toContain('<script')
  expect(page.text).not.toContain(' style=')
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; base-uri 'none'; form-action https:\/\/svc\.example\.test; frame-ancestors 'none'; style-src 'sha256-[\w+/]{43}='$/,
  )
})

test.each([
  [{ theme: 'light-red' }, 'background: #fcd9d3; color: #5c0d00'],
  [{ theme: 'dark', font: '#0aF' }, 'background: #28272d; color: #0aF'],
  [{ font: '', color: '#000000' }, 'background: #2f2a6b; color: #ffffff'],
  [{ broadcastType: 'notification', theme: 'red' }, 'background: #E75E40; color: #FFFFFF'],
  [{ broadcastType: 'notification', color: '#ffd', font: '#000' }, 'background: #ffd; color: #000'],
  [{ broadcastType: 'notification', color: '' }, 'background: #ececef; color: #1f1e24'],
])('%j has the colours %s', async (input, rule) => {
  const { id } = await announce(input)
  expect(ruleOf(await browser.get(SIGN_IN), id)).toBe(rule)
})

test('the button has the colours of its message, which the colour scheme of the browser does not change', async () => {
  await announce({ message: 'Maintenance', dismissable: true })
  const rule = /\.message button \{ (.+?) \}/.exec((await browser.get(SIGN_IN)).text)![1]
  expect(rule).toContain('background: transparent; color: inherit')
})

test('the text of every theme can be read', async () => {
  const themes = ['indigo', 'light-indigo', 'blue', 'light-blue', 'green', 'light-green', 'red', 'light-red']
  for (const theme of [...themes, 'dark', 'light']) await announce({ theme })
  const page = await browser.get(SIGN_IN)
  for (let id = 1; id <= 10; id += 1) {
    const [background, text] = ruleOf(page, id)!.match(/#[0-9a-f]{6}/g)!
    expect(contrast(background!, text!), `${id} ${background} ${text}`).toBeGreaterThanOrEqual(7)
  }
})

/** Returns the contrast ratio of two colours. @see WCAG 2.2, contrast ratio and relative luminance */
function contrast(one: string, other: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  }
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light! + 0.05) / (dark! + 0.05)
}

describe('dismissing', () => {
  /** Submits the first form of a page that dismisses a message. Returns the answer, and the cookie that it sets. */
  async function dismiss(page: Shown, fields: Record<string, string> = {}): Promise<Shown> {
    const session = browser.cookie
    const answer = await browser.submit(page, DISMISS, fields)
    browser.cookie = [session, answer.setCookie?.split(';')[0]].filter(Boolean).join('; ')
    return answer
  }

  test('hides the message in this browser until it ends, and returns to the page', async () => {
    const { id } = await announce({ dismissable: true })
    await announce({ message: 'stays' })
    await browser.get(SIGN_IN)
    const path = `${SIGN_IN}?return_to=%2Foauth%2Fdevice`
    const page = await browser.get(path)
    expect(messagesOf(page)).toEqual(['Maintenance', 'stays'])
    expect(page.text.match(/<button>Dismiss<\/button>/g)).toHaveLength(1)
    const answer = await dismiss(page, { id: String(id), return_to: path })
    expect([answer.status, answer.location]).toEqual([303, HOME + path])
    expect(answer.setCookie).toBe(`_svc_dismissed_messages=${id}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=3600`)
    expect(messagesOf(await browser.get(SIGN_IN))).toEqual(['stays'])
    expect(messagesOf(await newBrowser().get(SIGN_IN))).toEqual(['Maintenance', 'stays'])
    await world.perform(root, updateBroadcastMessage, { broadcastMessageId: id, dismissable: false })
    expect(messagesOf(await browser.get(SIGN_IN))).toEqual(['Maintenance', 'stays'])
  })

  test('keeps the messages that were dismissed before, while they are active', async () => {
    const ids = []
    for (const hours of [1, 3, 2]) {
      const endsAt = new Date(world.clock.nowMs() + hours * HOUR_MS).toISOString()
      ids.push((await announce({ dismissable: true, endsAt })).id)
    }
    await browser.get(SIGN_IN)
    browser.cookie += '; _svc_dismissed_messages=1-2'
    await world.clock.advance(HOUR_MS + 1)
    const answer = await dismiss(await browser.get(SIGN_IN))
    expect(answer.setCookie).toMatch(/^_svc_dismissed_messages=3-2;.*; Max-Age=7200$/)
    expect(ids).toEqual([1, 2, 3])
  })

  test('needs the form of a page of the same browser', async () => {
    await announce({ dismissable: true })
    await browser.get(SIGN_IN)
    const { hidden } = await browser.get(SIGN_IN)
    const attempt = async (fields: Record<string, string>, headers = {}) => {
      const { status, setCookie } = await browser.post(DISMISS, fields, headers)
      return [status, setCookie]
    }
    expect(await attempt({ id: '1' })).toEqual([403, null])
    expect(await attempt(hidden, { 'Sec-Fetch-Site': 'cross-site' })).toEqual([403, null])
    const visitor = await newBrowser().post(DISMISS, hidden)
    expect([visitor.status, visitor.setCookie]).toEqual([403, null])
  })

  test.each(['7', 'x', ''])('a form with the id %j sets no cookie', async (id) => {
    await announce({ dismissable: true })
    await browser.get(SIGN_IN)
    const answer = await dismiss(await browser.get(SIGN_IN), { id, return_to: '//evil.example.test' })
    expect([answer.status, answer.setCookie]).toEqual([303, null])
    expect(new URL(answer.location!).origin).toBe(HOME)
  })

  test.each(['x', '1--2', '1-', '1'.repeat(20), Array(101).fill('1').join('-')])(
    'a cookie %j hides nothing',
    async (value) => {
      await announce({ dismissable: true })
      browser.cookie = `_svc_dismissed_messages=${value}`
      expect(messagesOf(await browser.get(SIGN_IN))).toEqual(['Maintenance'])
    },
  )

  test('a page without the cookie of a visitor has no form', async () => {
    await announce({ dismissable: true })
    const page = await browser.get('/oauth/authorize')
    expect(messagesOf(page)).toEqual(['Maintenance'])
    expect(page.text).not.toContain('<form')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'none'")
  })
})
