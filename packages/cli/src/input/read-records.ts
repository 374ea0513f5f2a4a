import type { InputFile } from './input-files.ts'
import { type Reading, readBodies } from './record-stream.ts'
import { groupedJobs } from './rest-job-groups.ts'

/**
 * Yields the records of a file in the form that every command reads: captured requests as their body, REST jobs as one
 * bundle per pipeline.
 */
export function readRecords(
  file: InputFile,
  maxDocumentBytes: number,
  onRead?: (bytes: number) => void,
): AsyncIterable<Reading> {
  return groupedJobs(readBodies(file, { maxDocumentBytes }, onRead), maxDocumentBytes)
}
