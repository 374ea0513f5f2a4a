/** The keys of the receiver that have another name in Penstock. */
export const equivalents: Readonly<Record<string, string>> = {
  'vcs.ref.head': 'vcs.ref.head.name',
  'vcs.ref.type': 'vcs.ref.head.type',
  'cicd.pipeline.run.status': 'cicd.pipeline.result',
  'cicd.pipeline.run.task.status': 'cicd.pipeline.task.run.result',
  'cicd.pipeline.run.sender.login': 'svc.cicd.pipeline.user.username',
  'cicd.pipeline.run.queue.duration': 'svc.cicd.pipeline.task.run.queued_duration',
  'cicd.pipeline.worker.id': 'cicd.worker.id',
  'cicd.pipeline.worker.name': 'cicd.worker.name',
  'cicd.pipeline.worker.group.name': 'svc.cicd.worker.group',
  'cicd.pipeline.worker.labels': 'svc.cicd.worker.tags',
  'cicd.pipeline.task.name': 'svc.cicd.pipeline.step.name',
}

/** The reasons why values differ, or why Penstock does not send the key. */
export const remarks: Readonly<Record<string, string>> = {
  'cicd.pipeline.name':
    'the receiver sends the name of the job for jobs; Penstock sends it for the run, and the name of the job as `cicd.pipeline.task.name`',
  'cicd.pipeline.run.status': 'the receiver sends words of GitHub that are no values of the conventions',
  'cicd.pipeline.run.task.status':
    'on a step, the receiver sends `failure` for a skipped one, and `completed` if the forge has no result',
  'cicd.pipeline.run.sender.login':
    'the receiver sends the sender of the hook, Penstock the user who started the attempt',
  'cicd.pipeline.task.run.sender.login': 'the sender of a hook is not the user of a job',
  'cicd.pipeline.run.queue.duration': 'nanoseconds; Penstock sends seconds',
  'cicd.pipeline.task.name': 'the receiver sends the name of a step, with a number if it occurs twice',
  'cicd.pipeline.run.previous_attempt.url.full': 'Penstock has a link to the span of that attempt',
  'cicd.pipeline.worker.id': 'the receiver sends 0 if there was no runner',
  'cicd.pipeline.worker.group.id': 'not exported; 0 for the runners of GitHub',
  'cicd.pipeline.worker.group.name': 'blank if there was no runner',
  'cicd.pipeline.worker.name': 'blank if there was no runner',
  'cicd.pipeline.worker.node.id': 'the id of the job in GraphQL, not of the runner',
  'cicd.pipeline.worker.labels':
    'the labels that the job asks for, in lower case; Penstock sends them unchanged, if there was a runner',
  'vcs.ref.head':
    'the receiver sends the branch of a run that is no branch’s; on jobs, Penstock has it on the run only',
  'vcs.ref.type': 'always `branch`',
  'vcs.ref.head.revision.author.email': 'never exported',
  'vcs.ref.head.revision.author.name': 'never exported; it is the committer’s, not the author’s',
}

/** Keys of the receiver with a part that depends on the run. */
export const remarkByPrefix: readonly (readonly [prefix: string, remark: string])[] = [
  ['github.reference.workflow.', 'not exported; the name of the file is part of the key'],
  ['github.repository.custom_properties.', 'not exported; the name of the property is part of the key'],
]
