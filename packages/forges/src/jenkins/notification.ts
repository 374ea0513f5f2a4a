import { type Fields, id, refuse, requiredSection, section, text, unixMilliseconds } from '../body/fields.ts'
import { lastSegment, repositoryPath, repositoryUrl, url } from '../body/url.ts'
import { absentRunFields } from '../record/absent-fields.ts'
import type { PipelineRecord, ProjectRecord } from '../record/pipeline-record.ts'
import { toCommit } from '../record/run-origin.ts'
import { readRef } from './actions.ts'
import { displayName, readBuildPlace } from './job-name.ts'
import { millis, UNKNOWN } from './run.ts'
import { jenkinsFailureReason, jenkinsStatus } from './status-words.ts'

/**
 * Reads `{ name, url, build }` of the notification plugin about a finalized build. It has no stages. Its time is the end of the build, because
 * it is that of the phase.
 */
export function readNotification(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const build = requiredSection(hook, 'build')
  const number = id(build, 'number') ?? refuse(build, 'number', 'must be the number of the build')
  const webUrl = url(build, 'full_url')
  const place = readBuildPlace(webUrl)
  if (place === undefined) {
    refuse(build, 'full_url', 'must be the URL of the build; enter the URL of Jenkins in its system configuration')
  }
  const scm = section(build, 'scm')
  const sha = scm && text(scm, 'commit')
  const word = text(build, 'status')
  const durationMs = millis(build, 'duration')
  return {
    ...absentRunFields,
    ...readRef(scm && text(scm, 'branch')),
    forge: 'jenkins',
    id: `${place.names.join('/')}#${number}`,
    iid: number,
    name: displayName(place.names),
    status: word === undefined ? UNKNOWN : jenkinsStatus(word),
    sha,
    finishedAtNs: unixMilliseconds(build, 'timestamp'),
    durationSeconds: durationMs === undefined ? undefined : durationMs / 1_000,
    url: webUrl,
    failureReason: word === undefined ? undefined : jenkinsFailureReason(word),
    commit: sha === undefined ? undefined : toCommit(sha, undefined),
    project: { ...readRepository(scm), server: place.server },
    jobs: [],
    jobsUnknown: true,
    bridgesListed: false,
    receivedAtNs,
  }
}

function readRepository(scm: Fields | undefined): ProjectRecord {
  const webUrl = repositoryUrl(scm && text(scm, 'url'))
  const path = repositoryPath(webUrl)
  return { id: undefined, name: path === undefined ? undefined : lastSegment(path), webUrl, path }
}
