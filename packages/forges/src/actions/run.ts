import { dateAfterEpoch, type Fields, id, requiredId, section, text } from '../body/fields.ts'
import { url } from '../body/url.ts'
import { absentRunFields } from '../record/absent-fields.ts'
import { readAttempt } from './jobs.ts'
import { readRepository } from './owners.ts'
import { readOutcome } from './status-words.ts'

/** Reads the fields that GitHub and Gitea share. `owner` is the hook or the bundle that the run is in. */
export function readSharedFields(run: Fields, owner: Fields) {
  const runId = requiredId(run, 'id')
  const { status, word, failureReason } = readOutcome(run)
  const attempt = readAttempt(run)
  const workflow = section(owner, 'workflow')
  const webUrl = url(run, 'html_url')
  return {
    ...absentRunFields,
    id: runId,
    attempt,
    previousAttempt: attempt === undefined || attempt === 1 ? undefined : { runId, attempt: attempt - 1 },
    iid: id(run, 'run_number'),
    name: text(run, 'name') ?? (workflow && text(workflow, 'name')),
    status,
    detailedStatus: word,
    ref: text(run, 'head_branch'),
    sha: text(run, 'head_sha'),
    source: text(run, 'event'),
    createdAtNs: dateAfterEpoch(run, 'created_at'),
    updatedAtNs: dateAfterEpoch(run, 'updated_at'),
    url: webUrl,
    failureReason,
    project: readRepository(section(run, 'repository') ?? section(owner, 'repository'), webUrl),
    bridgesListed: false,
  }
}
