import { createReadStream } from 'node:fs'
import { type JobLog, JobLogReader } from '@penstock/forges'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'

/** A file with the log of a job. */
export interface JobLogFile {
  readonly jobId: string
  readonly path: string
}

/** Returns the flag `--job-log`, for commands that convert the records of files. */
export function jobLogOption(): Option {
  return new Option(
    '--job-log <id=file>',
    'log of the job with this id: its sections become steps, and the failing lines of a failed job an event; repeatable',
  ).argParser((text: string, before: readonly JobLogFile[] = []) => [...before, parseJobLog(text, before)])
}

function parseJobLog(text: string, before: readonly JobLogFile[]): JobLogFile {
  const at = text.indexOf('=')
  const [jobId, path] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1)]
  if (jobId === '' || path === '') throw new InvalidArgumentError('It must be ID=FILE, such as 380=build.log.')
  if (before.some((file) => file.jobId === jobId)) throw new InvalidArgumentError(`Job ${jobId} has two logs.`)
  return { jobId, path }
}

/**
 * Returns what the logs contain, by the ids of their jobs. The files are streamed.
 *
 * @throws {UsageError} for a file that cannot be read
 */
export async function readJobLogs(files: readonly JobLogFile[], signal: AbortSignal): Promise<Map<string, JobLog>> {
  const logs = new Map<string, JobLog>()
  for (const file of files) logs.set(file.jobId, await readJobLog(file, signal))
  return logs
}

async function readJobLog({ jobId, path }: JobLogFile, signal: AbortSignal): Promise<JobLog> {
  const reader = new JobLogReader()
  try {
    for await (const chunk of createReadStream(path, { signal })) reader.add(chunk as Buffer)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`--job-log ${jobId}: ${path}: ${systemReason(error)}`)
  }
  return reader.end()
}
