import { decodeRequest } from '@penstock/otlp'
import { expect, onTestFinished, test } from 'vitest'
import { describeWithCollector } from '../../collector/collector-suite.ts'
import { startGitlabReceiver } from '../../collector/gitlab-receiver.ts'
import { hookActions } from './hook-actions.ts'
import { HookedProject } from './hooked-project.ts'

describeWithCollector("the Collector's gitlabreceiver", () => {
  test('accepts the pipeline hooks, and makes a trace of an ended pipeline', async () => {
    const receiver = await startGitlabReceiver()
    onTestFinished(() => receiver.stop())
    const project = await HookedProject.start()
    const answers: unknown[] = []
    for (const { act } of hookActions.filter(({ what }) => what.startsWith('PUT /pipeline_records/'))) {
      await act(project)
      for (const { switch: name, text } of await project.calls()) {
        if (name !== 'pipeline_events') continue
        const { status, message, traces } = await receiver.postPipelineWebhook(text)
        const spans = traces.flatMap((line) => {
          const { resourceSpans } = decodeRequest('traces', Buffer.from(line), 'json') as unknown as Spans
          return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
        })
        answers.push([status, message, spans.length])
      }
    }
    // The running pipeline has nothing to export. The ended one has a span for itself, its two stages and its two jobs.
    expect(answers).toEqual([
      [204, '', 0],
      [200, '', 5],
    ])
  })
})

interface Spans {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly unknown[] }[] }[]
}
