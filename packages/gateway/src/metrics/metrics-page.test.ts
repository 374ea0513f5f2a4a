import { expect, test } from 'vitest'
import { instruments } from './instruments.ts'
import { metricsPage } from './metrics-page.ts'

test('the page has a row for every instrument', () => {
  const page = metricsPage()
  const named = [...page.matchAll(/^\| `(otelcol_\w+)` \| (?:counter|gauge|histogram) /gm)].map(([, name]) => name)
  expect(named).toEqual(Object.keys(instruments))
})
