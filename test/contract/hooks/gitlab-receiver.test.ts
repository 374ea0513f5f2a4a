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
        answers.push([status, message, traces.length])
      }
    }
    // The running pipeline has nothing to export; the ended one is a trace.
    expect(answers).toEqual([
      [204, '', 0],
      [200, '', 1],
    ])
  })
})
