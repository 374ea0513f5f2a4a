import { test } from 'vitest'
import { convert, parseLossless, readInput, resolveOptions } from '@penstock/converter'
import { readFileSync } from 'node:fs'
const body = () => parseLossless(readFileSync('fixtures/pipelines/push-pipeline-five-jobs-three-stages.json','utf8')) as any
const run = (f: (b: any) => void, o = {}) => { const b = body(); f(b); const i = readInput(b, {receivedAtNs: undefined}) as any; try { const c = convert(i.record, resolveOptions(o)); return c } catch (e: any) { return String(e) } }
const show = (x: unknown) => console.log(JSON.stringify(x, (_, v) => typeof v === 'bigint' ? `${v}n` : v))
test('probe', () => {
  for (const w of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const c = run((b) => { b.builds[0].status = w }) as any
    console.log('status', w, typeof c === 'string' ? c : 'ok'); if (typeof c !== 'string') show(c.logs.resources[0].scopes[0].items.find((l: any) => l.spanId && l.body.value.includes('unit')))
    const d = run((b) => { b.builds[0].status = 'failed'; b.builds[0].failure_reason = w }, { refinedResults: true }) as any
    console.log('reason', w, typeof d === 'string' ? d : 'ok')
    const m = run((b) => { b.merge_request = { iid: 1, state: w } }) as any
    console.log('mr', w, typeof m === 'string' ? m : 'ok')
    try { resolveOptions({ [w]: 1 } as any); console.log('opt', w, 'ACCEPTED') } catch (e: any) { console.log('opt', w, String(e)) }
  }
  const n = run((b) => { b.object_attributes.name = '\0' }) as any
  show([n.traces.resources[0].scopes[0].items[0].name, n.logs.resources[0].scopes[0].items[0].body])
  show(n.traces.resources[0].scopes[0].items[0].attributes.filter((a: any) => a.key === 'cicd.pipeline.name'))
})
