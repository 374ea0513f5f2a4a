import { accessLevels, createPersonalToken, groupWikis } from '@penstock/core'
import { listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { expect, vi } from 'vitest'
import { openWindow, testWithChromium } from './chromium.ts'

vi.setConfig({ testTimeout: 120_000 })

const script = '<script>document.title = "ran"</script>'
const files: Readonly<Record<string, string>> = {
  'page.html': `<!doctype html><html>${script}</html>`,
  'page.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml">${script}</html>`,
  'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='ran'">${script}</svg>`,
  'picture.png': `<!doctype html><html>${script}</html>`,
  'clip.mp4': `<!doctype html><html>${script}</html>`,
  'code.js': 'document.title = "ran"',
  'feed.xml': `<?xml-stylesheet href="data:text/xsl,x"?><html xmlns="http://www.w3.org/1999/xhtml">${script}</html>`,
  'paper.pdf': `%PDF-1.4 ${script}`,
  'no-extension': `<!doctype html><html>${script}</html>`,
}

testWithChromium('no attachment of a wiki runs in a browser, opened, framed or as a script', async (browser) => {
  const world = await World.open()
  const server = await listen(restListener({ core: world.core, areas, log: silentLog, rateLimits: 'off' }), {
    host: '127.0.0.1',
    port: 0,
  })
  try {
    const mira = await world.user('mira')
    const ops = await world.group('ops', { visibility: 'public' })
    await world.member(ops, mira, accessLevels.owner)
    await world.perform(mira, groupWikis.create, { parent: ops.id, title: 'home', content: '' })
    const root = { ...mira, isAdministrator: true }
    const draft = { userId: mira.id, name: 'test', scopes: ['api'] }
    const { value } = await world.perform(root, createPersonalToken, draft)
    const { context } = await openWindow(browser, server.url)
    for (const [name, content] of Object.entries(files)) {
      const body = new FormData()
      body.append('file', new File([content], name, { type: 'text/html' }))
      const upload = { method: 'POST', headers: { 'private-token': value }, body }
      const reply = await fetch(`${server.url}/api/v4/groups/ops/wikis/attachments`, upload)
      const { file_path: path } = (await reply.json()) as { file_path: string }
      const url = `${server.url}/groups/ops/-/wikis/${path}`
      const page = await context.newPage()
      // Most files are downloads, so that the page stays where it is.
      await page.goto(url).catch(() => {})
      expect([name, await page.title()]).not.toContain('ran')
      await page.goto('about:blank')
      await page.setContent(`<title>page</title><iframe src="${url}"></iframe><script src="${url}"></script>
        <object data="${url}"></object><embed src="${url}"><img src="${url}">`)
      // Everything has been loaded or refused, and what ran has had a turn.
      await page.waitForLoadState('networkidle')
      const titles = await Promise.all(page.frames().map((frame) => frame.title().catch(() => '')))
      expect([name, ...titles]).not.toContain('ran')
      await page.close()
    }
  } finally {
    await server.close(AbortSignal.abort())
    await world.close()
  }
})
