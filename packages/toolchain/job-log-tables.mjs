import { errorMarkers } from '../forges/dist/job-log/error-markers.js'
import {
  LINES_BEFORE_MARKER,
  LINES_WITHOUT_MARKER,
  MIN_LINES,
  WINDOW_LINES,
} from '../forges/dist/job-log/failing-lines.js'
import { variableParts } from '../forges/dist/job-log/fingerprint.js'
import { runnerSections } from '../forges/dist/job-log/runner-sections.js'
import { secretForms } from '../forges/dist/job-log/secret-forms.js'
import { MAX_FAILURE_BYTES } from '../forges/dist/record/limits.js'

/** Returns the rules by which failing lines are chosen, masked and made a fingerprint, from their tables. */
export function jobLogTables({ table, code }) {
  const phase = (wanted) =>
    Object.entries(runnerSections)
      .filter(([, when]) => when === wanted)
      .map(([name]) => code(name))
      .join(', ')
  return `The failing lines begin ${LINES_BEFORE_MARKER} lines before the first line with an error marker among the last ${WINDOW_LINES} lines, and are at least the last
${MIN_LINES} lines; without a marker, they are the last ${LINES_WITHOUT_MARKER}. Blank lines are left out. They are at most ${MAX_FAILURE_BYTES.toLocaleString('en')} bytes; earlier lines are left
out. Lines before the script (${phase('script')}) are left out if it started, those of the sections after it always:
${phase('after')}.

${table(
  ['Tools', 'Error marker'],
  errorMarkers.map(({ tools, example }) => [tools, code(example)]),
)}

Escape sequences are removed. ${code('[MASKED]')} replaces secrets of these forms, and words of 20 or more characters that look random: many changes
between capitals, small letters and digits, or 32 or more hexadecimal digits that no name of a hash precedes.

${table(
  ['Masked'],
  secretForms.map(({ what }) => [what]),
)}

The fingerprint is a hash of the lines with error markers, or of the last five lines if there are none, without their order. Placeholders
replace these parts of them, in this order:

${table(
  ['Replaced by a placeholder'],
  variableParts.map(({ what }) => [what]),
)}`
}
