import { OtherHookError, RecordError } from '@penstock/forges'
import { type Command, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { findInputFiles } from '../input/input-files.ts'
import { addInputFlags, inputSettings } from '../input/input-flags.ts'
import { type Reading, readBodies } from '../input/record-stream.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { type CheckedBody, checkBody } from '../records/checked-body.ts'
import { type Checked, checkedAsJson, checkedAsText } from '../records/checked-output.ts'
import { RestJobGroups } from '../records/rest-job-groups.ts'

const examples = `
Prints for each record its kind, whether it would be exported, and the attributes and metrics without a value, with the
reason. Records are read as by penstock convert, REST jobs as one record per pipeline. Each record is checked alone,
without the values that job hooks or parent pipelines would add.

Examples:
  $ penstock check hook.json
  $ penstock check hooks.ndjson --format json | jq -r '.missing[]? | .attributes[]' | sort | uniq -c

Exit codes: 0 every record can be converted (or would be skipped: not finished yet, another event), 1 a record was refused,
2 usage.
`

export const checkCommand: CommandDefinition = {
  name: 'check',
  define: (command: Command) => {
    command
      .summary('lists the attributes and metrics that a payload has no values for')
      .description('Reports the kind of each record, the attributes and metrics it has no values for, and why.')
      .argument('<file...>', 'files, directories, or - for standard input')
      .addOption(
        new Option('--format <format>', 'text, or json with one object per record and line')
          .choices(['text', 'json'])
          .default('text'),
      )
      .addHelpText('after', examples)
    addInputFlags(command)
  },
  run: (inputs, flags, environment) => checkRecords(inputs, flags, environment),
}

async function checkRecords(inputs: readonly string[], flags: OptionValues, environment: Environment): Promise<number> {
  const { options, receivedAtNs, maxDocumentBytes, forge } = inputSettings(flags, environment)
  const output = flags.format === 'json' ? checkedAsJson : checkedAsText
  let exitCode: number = exitCodes.ok
  const result = (reading: Reading): CheckedBody | RecordError => {
    if (reading.kind === 'fault') return reading.error
    return orRecordError(() => checkBody(reading.body, options, receivedAtNs ?? environment.clock.nowNs(), forge))
  }
  const groups = new RestJobGroups(maxDocumentBytes)
  const files = await findInputFiles(inputs, environment, environment.signal)
  for (const [index, file] of files.entries()) {
    if (file.rereadable) await exhaust(groups.survey(readBodies(file, { maxDocumentBytes }), index))
  }
  for (const [index, file] of files.entries()) {
    for await (const reading of groups.read(readBodies(file, { maxDocumentBytes }), index)) {
      const isJobGroup = reading.kind === 'body' && reading.isJobGroup === true
      const checked: Checked = { place: reading.place, isJobGroup, result: result(reading) }
      if (isRefusal(checked.result)) exitCode = exitCodes.incomplete
      await write(environment.stdout, output(checked))
    }
  }
  return exitCode
}

/** Reads to the end. */
async function exhaust(readings: AsyncIterable<Reading>): Promise<void> {
  for await (const _ of readings);
}

/**
 * Returns whether a body is refused. A hook about another event is not refused, because every command skips such hooks.
 */
const isRefusal = (result: Checked['result']): boolean =>
  result instanceof RecordError && !(result instanceof OtherHookError)

function orRecordError<T>(work: () => T): T | RecordError {
  try {
    return work()
  } catch (error) {
    if (error instanceof RecordError) return error
    throw error
  }
}
