import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MarkupRenderer } from '@penstock/markup'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { markupFormats } from '../../packages/markup/src/formats/format-names.ts'
import { hostileTexts } from '../../packages/markup/src/hostile-markup.harness.ts'
import { openWindow, testWithChromium } from './chromium.ts'

vi.setConfig({ testTimeout: 180_000 })

/** The host of images that a text may show: images of other sites are allowed, and nothing else of them. */
const IMAGES = 'http://images.test/'
/** Counts everything that a script of a text could call. */
const trap = `<script>
  window.hits = []
  for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) window[name] = () => window.hits.push(name)
  addEventListener('error', (event) => { if (event.message) window.hits.push(event.message) })
</script>`
/** Asks the page what a reader could set off: handlers, addresses that run, and events of the mouse and the keyboard. */
const probe = `(() => {
  const all = [...document.querySelectorAll('main *')]
  const handlers = all.flatMap((each) => each.getAttributeNames().filter((name) => name.startsWith('on')))
  const links = [...document.querySelectorAll('main a[href]')]
  const running = links.map(({ protocol }) => protocol).filter((each) => !/^(https?|mailto):$/.test(each))
  const covered = all.filter((each) => getComputedStyle(each).position === 'fixed').length
  for (const each of all) {
    for (const type of ['mouseover', 'pointerenter', 'focus', 'toggle', 'animationstart', 'error', 'load']) {
      each.dispatchEvent(new Event(type, { bubbles: true }))
    }
  }
  return { hits: window.hits, handlers, running, covered, scripts: document.scripts.length, base: document.baseURI,
    title: document.title, forms: document.forms.length, frames: window.length }
})()`

let server: Server
let origin: string
let html = ''
const renderer = MarkupRenderer.start({ threads: 1 })

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    response.writeHead(url === '/page' ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(html)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await renderer.close()
  server?.close()
})

async function show(page: Page, rendered: string): Promise<unknown> {
  html = `<!doctype html><html><head><title>page</title>${trap}</head><body><main>${rendered}</main></body></html>`
  await page.goto(`${origin}/page`, { waitUntil: 'load' })
  // A page may also insert the text by a script, which reads some HTML differently.
  await page.evaluate(`document.querySelector('main').innerHTML = ${JSON.stringify(rendered)}`)
  return page.evaluate(probe)
}

const harmless = () => ({
  ...{ hits: [], handlers: [], running: [], covered: 0, scripts: 1, base: `${origin}/page`, title: 'page' },
  ...{ forms: 0, frames: 0 },
})

for (const format of markupFormats) {
  testWithChromium(`no hostile ${format} runs or requests anything in a browser`, async (browser) => {
    const { context, strayed } = await openWindow(browser, origin)
    const page = await context.newPage()
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const results: unknown[] = []
    for (const text of hostileTexts(format)) {
      const found = await show(page, await renderer.render({ format, text }))
      results.push({ text, found })
    }
    expect(results).toEqual(hostileTexts(format).map((text) => ({ text, found: harmless() })))
    expect([dialogs, strayed.filter((url) => !url.startsWith(IMAGES))]).toEqual([[], []])
  })
}

testWithChromium('the trap notices texts that were not sanitised', async (browser) => {
  const { context, strayed } = await openWindow(browser, origin)
  const page = await context.newPage()
  expect(await show(page, '<img src=x onerror=alert(1)>')).toMatchObject({ handlers: ['onerror'] })
  expect(await show(page, '<script>alert(1)</script>')).toMatchObject({ hits: ['alert'] })
  await show(page, '<p style="background:url(http://evil.test/x)">a</p>')
  expect(strayed).toContain('http://evil.test/x')
})
